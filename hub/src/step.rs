//! A transaction of the hub's own making: what is neither committed nor undone takes its connection with it.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Executor};

use crate::error::Error;
use crate::held::HeldFile;

/// A transaction, used as the connection that it is on.
///
/// One that is neither committed nor undone takes its connection with it. So no connection is used again whose
/// state is not known: after a failed commit a transaction may still be open, and what is written "after" it would
/// be acknowledged and never kept. (The transactions of the library count their depth beside the database, and go
/// wrong where SQLite ends one by itself, as on a full disk.)
#[derive(Debug)]
pub struct Step {
    connection: PoolConnection<Any>,
    /// What it writes into, where that is a file.
    file: Option<Arc<HeldFile>>,
    is_open: bool,
}

impl Step {
    /// Begins one on a connection of `pool` to `file` with `statements`.
    ///
    /// # Errors
    /// The file has gone, no connection is to be had, or the database refuses a statement.
    pub(crate) async fn begin(
        pool: &AnyPool,
        file: Option<Arc<HeldFile>>,
        statements: &[&'static str],
    ) -> Result<Self, Error> {
        file.iter().try_for_each(|file| file.check())?;
        let mut step = Self { connection: pool.acquire().await?, file, is_open: true };
        for statement in statements {
            step.connection.execute(*statement).await?;
        }
        Ok(step)
    }

    /// Makes everything that was written in it durable.
    ///
    /// # Errors
    /// The database does not, or does not say so, or it has done so in a file that has gone.
    pub async fn commit(mut self) -> Result<(), Error> {
        self.connection.execute("COMMIT").await?;
        self.is_open = false;
        self.file.iter().try_for_each(|file| file.check())
    }

    /// Undoes everything that was written in it.
    ///
    /// # Errors
    /// The database does not answer; nothing is kept in that case either.
    pub async fn rollback(mut self) -> Result<(), Error> {
        self.connection.execute("ROLLBACK").await?;
        self.is_open = false;
        Ok(())
    }

    /// Goes on where `result` is good; else undoes everything and keeps the connection.
    ///
    /// # Errors
    /// The error of `result`.
    pub async fn or_undo<T>(self, result: Result<T, Error>) -> Result<(Self, T), Error> {
        match result {
            Ok(value) => Ok((self, value)),
            Err(error) => {
                // What cannot be undone goes with the connection.
                let _ = self.rollback().await;
                Err(error)
            }
        }
    }
}

impl Deref for Step {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        &self.connection
    }
}

impl DerefMut for Step {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if self.is_open {
            self.connection.close_on_drop();
        }
    }
}

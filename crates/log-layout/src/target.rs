//! A log as a target: one request at a time, which is over when it is taken.

use cardproof_io::{
    Abilities, Arrangement, Completion, Directness, Fault, Op, OpKind, Slot, Submission,
    SubmitError, Target, TargetError, Usage, Wait,
};
use cardproof_units::{Bytes, Nanos};

use crate::LogError;
use crate::layer::LogLayout;

impl<T: Target> Target for LogLayout<T> {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.inner.target.now()
    }

    fn temperature_millicelsius(&mut self) -> Option<i32> {
        self.inner.target.temperature_millicelsius()
    }

    fn arrange(&mut self, arrangement: Arrangement) -> Result<Directness, TargetError> {
        self.inner.target.arrange(arrangement)
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.inner.prepare().map_err(engine)?;
        let wanted = Bytes(buffer_size.get().saturating_mul(u64::from(slots)));
        let no_memory =
            || TargetError::Memory { wanted, source: std::io::ErrorKind::OutOfMemory.into() };
        self.buffers.clear();
        for _ in 0..slots {
            let mut buffer = Vec::new();
            buffer.try_reserve_exact(buffer_size.as_len()).map_err(|_| no_memory())?;
            buffer.resize(buffer_size.as_len(), 0);
            self.buffers.push(buffer);
        }
        if self.buffers.is_empty() {
            return Err(no_memory());
        }
        self.buffer_size = buffer_size;
        Ok(())
    }

    fn cost(&self) -> Option<Usage> {
        self.inner.target.cost()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.buffers.get_mut(slot.index()).map_or(&mut [], Vec::as_mut_slice)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        if self.buffers.len() <= op.slot.index() {
            return Err(SubmitError::NoSuchSlot(op.slot.0));
        }
        self.abilities.check(&op, self.buffer_size)?;
        let submitted = self.inner.target.now();
        let outcome = match self.perform(&op) {
            Ok(()) if op.kind == OpKind::Flush => Ok(Bytes::ZERO),
            Ok(()) => Ok(op.length),
            Err(LogError::Fault(fault)) => Err(fault),
            Err(error) => {
                self.engine_error = Some(engine(error));
                Err(Fault::InputOutput)
            }
        };
        let completed = self.inner.target.now();
        let Op { slot, kind, .. } = op;
        Ok(Submission::Done(Completion { slot, kind, submitted, completed, outcome }))
    }

    fn complete(
        &mut self,
        wait: Wait,
        _completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if let Some(error) = self.engine_error.take() {
            return Err(error);
        }
        match wait {
            Wait::No | Wait::One => Ok(()),
            Wait::Until(until) => self.pass_time(until).map_err(engine),
        }
    }
}

/// An error of the layer as one of the engine.
fn engine(error: LogError) -> TargetError {
    match error {
        LogError::Engine(error) => error,
        error => TargetError::Engine {
            engine: "log layout",
            doing: "use the log",
            source: std::io::Error::other(error),
        },
    }
}

//! What a session can measure: the one trait that a new measuring command implements.

use cardproof_record::Record;
use cardproof_units::Seed;

use crate::announcement::Prepared;
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::place::Place;
use crate::session::Bench;

/// Something to measure. A session calls the methods in their order here, each once.
pub trait Experiment {
    /// On what it works: [`Storage`](crate::Storage) for addresses on a device, a file or a
    /// simulated card; [`OpenedTree`](crate::OpenedTree) for files in a directory.
    type Place: Place;

    /// What the place must offer: how much room, and whether the experiment writes.
    fn needs(&mut self, seed: Seed) -> <Self::Place as Place>::Needs;

    /// Settles what will be done on `place`, which is open and to which nothing was written. Puts
    /// what is known before the run into `draft`: at least its profile. The surroundings are there
    /// already.
    ///
    /// # Errors
    /// The experiment cannot be done there.
    fn prepare(
        &mut self,
        place: &mut Self::Place,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure>;

    /// Measures, and adds to the bench's record: the figures, the bytes read and written, and at
    /// last the state. What could not be measured is in the record with its cause; a failure of
    /// the storage is no error. It ends soon after [`Bench::stop`] turns true.
    ///
    /// It saves what there is after each part that is worth keeping, with [`Bench::checkpoint`].
    fn run(&mut self, bench: &mut Bench<'_, Self::Place>);
}

//! What is the same for every target that does an operation when it is handed over, and the next one after it.

/// Implements [`Target`](crate::Target) for a type with the fields `abilities` and `slots` and a method `perform`, which
/// does one operation and says how many bytes it has moved.
macro_rules! target_in_turn {
    ($target:ty) => {
        impl $crate::Target for $target {
            fn abilities(&self) -> &$crate::Abilities {
                &self.abilities
            }

            fn now(&mut self) -> cardproof_units::Nanos {
                $crate::clock::monotonic()
            }

            fn prepare(
                &mut self,
                slots: u16,
                buffer_size: cardproof_units::Bytes,
            ) -> Result<(), $crate::TargetError> {
                self.slots.ensure_idle()?;
                self.slots = $crate::slots::Slots::new(slots, buffer_size)?;
                Ok(())
            }

            fn cost(&self) -> Option<$crate::Usage> {
                Some($crate::usage())
            }

            fn buffer(&mut self, slot: $crate::Slot) -> &mut [u8] {
                self.slots.free_buffer(slot)
            }

            fn submit(
                &mut self,
                op: $crate::Op,
            ) -> Result<$crate::Submission, $crate::SubmitError> {
                self.slots.check(&self.abilities, &op)?;
                let submitted = $crate::clock::monotonic();
                let outcome = self.perform(&op);
                Ok($crate::Submission::Done($crate::Completion::new(
                    &op,
                    submitted,
                    $crate::clock::monotonic(),
                    outcome,
                )))
            }

            fn complete(
                &mut self,
                wait: $crate::Wait,
                _completions: &mut Vec<$crate::Completion>,
            ) -> Result<(), $crate::TargetError> {
                if let $crate::Wait::Until(deadline) = wait {
                    $crate::clock::sleep_until(deadline);
                }
                Ok(())
            }
        }
    };
}

pub(crate) use target_in_turn;

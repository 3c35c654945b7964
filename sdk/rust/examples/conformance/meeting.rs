//! Calls that wait for each other.

use std::sync::{Condvar, Mutex};

pub struct Meeting {
    /// Who waits, and how many meetings were held.
    state: Mutex<(usize, u64)>,
    held: Condvar,
}

impl Meeting {
    pub const fn new() -> Self {
        Meeting {
            state: Mutex::new((0, 0)),
            held: Condvar::new(),
        }
    }

    /// Returns once n calls are inside at the same time.
    pub fn meet(&self, n: usize) {
        let mut state = self.state.lock().unwrap();
        let mine = state.1;
        state.0 += 1;
        if state.0 >= n {
            *state = (0, mine + 1);
            self.held.notify_all();
        }
        drop(self.held.wait_while(state, |state| state.1 == mine));
    }
}

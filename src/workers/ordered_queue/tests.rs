use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::Duration;

use super::*;

fn error(byte: u8) -> Error {
    Error::MissingByte { byte }
}

/// The jobs 0 to 99.
fn jobs() -> impl FnMut() -> Result<Option<u8>> + Send {
    let mut numbers = 0..100;
    move || Ok(numbers.next())
}

/// [`placed`] for results that are written nowhere.
fn in_order<T: Send>(
    workers: usize,
    work: impl Fn(usize, u8) -> Result<T> + Sync,
    mut take: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let place = |result| take(result).map(|()| Vec::new());
    placed(workers, &Control::none(), jobs(), work, place, |()| Ok(()))
}

#[test]
fn results_are_taken_in_order_and_few_wait_for_others() {
    for workers in 1..=8 {
        let (mut taken, alive, peak) = (Vec::new(), AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |_, number: u8| {
            peak.fetch_max(alive.fetch_add(1, Relaxed) + 1, Relaxed);
            sleep(Duration::from_micros(u64::from(number) * 37 % 5 * 50));
            Ok(number)
        };
        let take = |number| {
            alive.fetch_sub(1, Relaxed);
            taken.push(number);
            Ok(())
        };
        in_order(workers, work, take).unwrap();
        assert!(taken.into_iter().eq(0..100));
        assert!(peak.into_inner() <= 5 * workers);
    }
}

#[test]
fn a_job_that_takes_long_is_waited_for() {
    let (begun, due) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |_, number: u8| {
        let ahead = begun.fetch_add(1, Relaxed) - due.load(Relaxed);
        assert!(ahead <= JOBS_AHEAD * 2, "{ahead}");
        sleep(Duration::from_millis(if number == 10 { 50 } else { 0 }));
        Ok(())
    };
    let take = |()| {
        due.fetch_add(1, Relaxed);
        Ok(())
    };
    in_order(2, work, take).unwrap();
    assert_eq!(due.into_inner(), 100);
}

#[test]
fn a_result_that_comes_after_a_failure_is_not_taken() {
    let is_second_begun = AtomicUsize::new(0);
    let has_failed = AtomicUsize::new(0);
    let wait_for = |number: &AtomicUsize| {
        while number.load(Relaxed) == 0 {
            sleep(Duration::from_micros(50));
        }
    };
    let work = |_, number: u8| {
        if number == 1 {
            is_second_begun.store(1, Relaxed);
            wait_for(&has_failed);
            sleep(Duration::from_millis(20)); // the failure is noted after `take` has returned
        } else {
            wait_for(&is_second_begun);
        }
        Ok(number)
    };
    let take = |number| {
        assert_eq!(number, 0);
        has_failed.store(1, Relaxed);
        Err(error(number))
    };
    let result = in_order(2, work, take);
    assert!(matches!(result, Err(Error::MissingByte { byte: 0 })), "{result:?}");
}

#[test]
fn what_is_placed_is_written_also_before_a_failure() {
    for workers in [1, 2, 5] {
        for bad in [None, Some(40_u8)] {
            let written = Mutex::new(Vec::new());
            let place = |number: u8| match bad {
                Some(bad) if number == bad => Err(error(number)),
                _ => Ok(vec![number, number]),
            };
            let write = |number| {
                written.lock().unwrap().push(number);
                Ok(())
            };
            let work = |_, number| Ok(number);
            let done = placed(workers, &Control::none(), jobs(), work, place, write);
            assert_eq!(done.is_err(), bad.is_some());
            let mut written = written.into_inner().unwrap();
            written.sort_unstable();
            let end = bad.unwrap_or(100);
            assert!(written.into_iter().eq((0..end).flat_map(|number| [number, number])));
            let fails = |number| if number == 30 { Err(error(30)) } else { Ok(()) };
            let result = placed(workers, &Control::none(), jobs(), work, place, fails);
            assert!(matches!(result, Err(Error::MissingByte { byte: 30 })), "{result:?}");
        }
    }
}

#[test]
fn a_panic_of_work_or_take_ends_all() {
    for workers in 2..=4 {
        for at in [0, 50, 99] {
            let fails = |_, number: u8| {
                assert_ne!(number, at, "on purpose");
                Ok(number)
            };
            let worker = || in_order(workers, fails, |_| Ok(()));
            assert!(std::panic::catch_unwind(worker).is_err());
            let taker = || in_order(workers, |_, job| Ok(job), |number| fails(0, number).map(drop));
            assert!(std::panic::catch_unwind(taker).is_err());
        }
    }
}

#[test]
fn the_calling_thread_makes_all_jobs_and_works_beside_the_others() {
    let caller = std::thread::current().id();
    for workers in 1..=4 {
        let (mut numbers, ahead, peak) = (0..100_u8, AtomicUsize::new(0), AtomicUsize::new(0));
        let make = || {
            assert_eq!(std::thread::current().id(), caller);
            peak.fetch_max(ahead.fetch_add(1, Relaxed) + 1, Relaxed);
            Ok(numbers.next())
        };
        let by_caller = AtomicUsize::new(0);
        let work = |worker, number: u8| {
            let is_caller = std::thread::current().id() == caller;
            assert_eq!(is_caller, worker == 0);
            by_caller.fetch_add(usize::from(is_caller), Relaxed);
            sleep(Duration::from_micros(u64::from(number) * 37 % 5 * 50));
            Ok(number)
        };
        let (mut placed, written) = (Vec::new(), Mutex::new(Vec::new()));
        let place = |number| {
            ahead.fetch_sub(1, Relaxed);
            placed.push(number);
            Ok(vec![number])
        };
        let write = |number| {
            written.lock().unwrap().push(number);
            Ok(())
        };
        placed_by_caller(workers, &Control::none(), make, work, place, write).unwrap();
        assert!(placed.into_iter().eq(0..100));
        let mut written = written.into_inner().unwrap();
        written.sort_unstable();
        assert!(written.into_iter().eq(0..100));
        assert!(by_caller.into_inner() > 0);
        assert!(peak.into_inner() <= JOBS_AHEAD * workers + 2);
    }
}

#[test]
fn the_first_failure_ends_all() {
    let control = Control::none();
    for workers in 1..=4 {
        for at in [0, 3, 50, 99] {
            for case in 0..8 {
                let (kind, by_caller) = (["jobs", "work", "place", "write"][case % 4], case < 4);
                // Later ones also fail, and earlier in time.
                let fails = |number: u8, here| {
                    sleep(Duration::from_micros(if number == at { 300 } else { 0 }));
                    if number >= at && kind == here { Err(error(number)) } else { Ok(()) }
                };
                let (mut numbers, mut placed_ones) = (0..=u8::MAX, 0);
                let make = || {
                    let number = numbers.next();
                    number.map_or(Ok(()), |number| fails(number, "jobs"))?;
                    Ok(number)
                };
                let work = |_, number| fails(number, "work").map(|()| number);
                let place = |number| {
                    fails(number, "place")?;
                    placed_ones += 1;
                    Ok(vec![number])
                };
                let write = |number| fails(number, "write");
                let result = if by_caller {
                    placed_by_caller(workers, &control, make, work, place, write)
                } else {
                    placed(workers, &control, make, work, place, write)
                };
                let case = format!("{workers} {at} {kind} {by_caller}");
                assert!(
                    matches!(result, Err(Error::MissingByte { byte }) if byte == at),
                    "{case} {result:?}"
                );
                if kind == "write" {
                    assert!(placed_ones > at, "{case}");
                } else {
                    assert_eq!(placed_ones, at, "{case}: all before it are placed");
                }
            }
        }
    }
}

#[test]
fn an_interruption_or_a_panic_of_the_calling_thread_ends_all() {
    for workers in 1..=4 {
        for at in [0, 50] {
            let mut numbers = 0..100_u8;
            let make = || match numbers.next() {
                Some(number) if number == at => Err(Error::Interrupted),
                number => Ok(number),
            };
            let result = placed_by_caller(
                workers,
                &Control::none(),
                make,
                |_, number| Ok(number),
                |_| Ok(vec![()]),
                |()| Ok(()),
            );
            assert!(matches!(result, Err(Error::Interrupted)), "{workers} {at} {result:?}");
            let run = || {
                let mut numbers = 0..100_u8;
                let make = || {
                    let number = numbers.next();
                    assert_ne!(number, Some(at), "on purpose");
                    Ok(number)
                };
                let work = |_, number| Ok(number);
                placed_by_caller(workers, &Control::none(), make, work, |_| Ok(vec![()]), |()| Ok(()))
            };
            assert!(std::panic::catch_unwind(run).is_err());
        }
    }
}

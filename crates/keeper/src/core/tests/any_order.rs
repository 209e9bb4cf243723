use super::*;

/// What may happen to a keeper, in any order.
fn happening() -> impl Strategy<Value = (u64, u8, u64)> {
    (prop_oneof![Just(0u64), 1u64..50, 900u64..70_000], 0u8..20, 0u64..6)
}

proptest! {
    /// Whatever happens in whatever order: no panic, nothing behind the last record, frames in order and
    /// begun before they are done, and no tick that is due at once again.
    #[test]
    fn any_order_of_happenings_keeps_the_record_sound(
        happenings in proptest::collection::vec(happening(), 0..80),
    ) {
        let mut keeper = Keeper::running();
        for (wait, what, number) in happenings {
            keeper.now += Duration::from_millis(wait);
            let host = ConnectionId(1 + number % 2);
            let scope = match number % 3 {
                0 => StopScope::Tree { grace: Duration::from_millis(number * 100) },
                1 => StopScope::Agent { grace: Duration::from_millis(number * 100) },
                _ => StopScope::Signal(2),
            };
            let unless_after = Some(keeper.core.spool().end()).filter(|_| number == 4);
            match what {
                0 => drop(keeper.greet(host, Some(start()))),
                1 => drop(keeper.step(Input::Closed(host))),
                2 | 3 => drop(keeper.output(&"line\n".repeat(usize::try_from(number).unwrap()))),
                4 => drop(keeper.output("part")),
                5 | 6 => {
                    let number = keeper.core.frames.numbers().accepted + number / 2;
                    keeper.call(host, &Call::WriteFrame(WriteChunk { number, total: 3, offset: 0, bytes: b"abc" }));
                }
                7 => {
                    let number = keeper.core.frames.numbers().begun + number;
                    keeper.call(host, &Call::CancelFrame { number });
                }
                8 | 9 => {
                    let bytes = keeper.stdin().len();
                    keeper.step(Input::StdinTook(bytes.min(usize::try_from(number).unwrap())));
                }
                10 => drop(keeper.step(Input::StdinBroken)),
                11 => drop(keeper.call(host, &Call::Stop(Stop { scope, unless_after }))),
                12 if keeper.core.agent().is_some() => {
                    keeper.step(Input::AgentExited(Exit::Code(0)));
                }
                13 | 14 => drop(keeper.looked(number / 2)),
                15 => drop(keeper.step(Input::OutputEnded)),
                16 => drop(keeper.step(Input::OutsideSignal(15))),
                17 => keeper.fill_disk(),
                18 => keeper.free_disk(),
                19 => drop(keeper.call(host, &Call::Acknowledge { position: keeper.core.spool().first() + number })),
                _ => {}
            }
            let effects = keeper.step(Input::Tick);
            let finished = effects.contains(&Effect::Finish);
            if let Some(tick) = keeper.core.next_tick()
                && !finished
            {
                prop_assert!(tick > keeper.now, "due at once again");
            }
        }
        let records = keeper.records();
        let exits: Vec<usize> = records
            .iter()
            .enumerate()
            .filter(|(_, record)| matches!(record, Record::Exited { .. }))
            .map(|(index, _)| index)
            .collect();
        prop_assert!(exits.is_empty() || exits == [records.len() - 1], "{:?}", records);
        let mut begun = 0;
        let mut done = 0;
        for record in &records {
            match record {
                Record::FrameBegun(number) => {
                    prop_assert!(*number > begun && begun == done, "{:?}", records);
                    begun = *number;
                }
                Record::FrameDone(number) => {
                    prop_assert_eq!(*number, begun);
                    done = *number;
                }
                Record::FrameCancelled(number) => prop_assert!(*number > begun),
                Record::Damaged => prop_assert!(false, "damage"),
                _ => {}
            }
        }
    }
}

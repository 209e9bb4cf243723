use super::*;

#[test]
fn the_greeting_that_starts_is_answered_when_the_agent_is_born() {
    let mut keeper = Keeper::new();
    assert_eq!(keeper.greet(HOST, Some(start())), [Effect::Start(start())]);
    assert_eq!(keeper.records(), []);
    let effects = keeper.step(Input::Born(AGENT));
    let [Effect::Reply(HOST, 1, Reply::Welcome(welcome))] = &effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((welcome.agent, welcome.end), (AgentState::Running(AGENT), 1));
    assert_eq!(keeper.records(), [Record::Started(AGENT)]);
    // Again, from a host that does not know that it was started.
    let effects = keeper.greet(HOST, Some(start()));
    assert!(matches!(effects[..], [Effect::Reply(..)]), "{effects:?}");
}

#[test]
fn a_greeting_takes_the_older_host_over() {
    let mut keeper = Keeper::running();
    let newer = ConnectionId(2);
    let effects = keeper.greet(newer, None);
    assert!(matches!(effects[..], [Effect::Close(HOST), Effect::Reply(newer, ..)] if newer.0 == 2));
    assert_eq!(keeper.core.host_connection(), Some(newer));
    let effects = keeper.call(HOST, &Call::Status);
    assert_eq!(
        effects,
        [Effect::Reply(HOST, 1, refused(Refusal::NotGreeted)), Effect::Close(HOST)]
    );
    // The older one's end is no news.
    keeper.step(Input::Closed(HOST));
    assert_eq!(keeper.core.host_connection(), Some(newer));
}

#[test]
fn a_frame_has_begun_on_disk_before_its_first_byte_and_is_done_after_its_last() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.write(1, b"hello\n"), Reply::Written(Written::Accepted));
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1)]);
    assert_eq!(keeper.stdin(), b"hello\n");
    keeper.step(Input::StdinTook(5));
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1)]);
    assert_eq!(keeper.stdin(), b"\n");
    keeper.step(Input::StdinTook(1));
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1), Record::FrameDone(1)]);
}

#[test]
fn frames_given_before_the_birth_are_written_after_it() {
    let mut keeper = Keeper::new();
    keeper.greet(HOST, None);
    assert_eq!(keeper.write(1, b"early"), Reply::Written(Written::Accepted));
    assert!(!keeper.core.has_stdin_bytes());
    keeper.greet(HOST, Some(start()));
    keeper.step(Input::Born(AGENT));
    assert_eq!(keeper.stdin(), b"early");
    assert_eq!(keeper.records(), [Record::Started(AGENT), Record::FrameBegun(1)]);
}

#[test]
fn one_frame_is_in_flight_and_the_order_of_lines_and_marks_is_kept() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"one");
    keeper.write(2, b"two");
    keeper.output("a\n");
    keeper.step(Input::StdinTook(3));
    keeper.output("b\n");
    keeper.step(Input::StdinTook(3));
    let expected = [
        Record::FrameBegun(1),
        line("a"),
        Record::FrameDone(1),
        Record::FrameBegun(2),
        line("b"),
        Record::FrameDone(2),
    ];
    assert_eq!(keeper.records()[1..], expected);
}

#[test]
fn without_space_for_its_beginning_no_frame_begins() {
    let mut keeper = Keeper::running();
    keeper.break_disk();
    assert_eq!(keeper.write(1, b"x"), Reply::Written(Written::Accepted));
    assert!(!keeper.core.has_stdin_bytes());
    assert_eq!(keeper.stdin(), b"");
    let cancel = keeper.ask(&Call::CancelFrame { number: 1 });
    assert_eq!(cancel, refused(Refusal::NoSpace), "nor can it be taken back off the record");
    keeper.free_disk();
    keeper.after(Duration::from_millis(999));
    assert!(!keeper.core.has_stdin_bytes(), "tried each second");
    keeper.after(Duration::from_millis(1));
    assert_eq!(keeper.stdin(), b"x");
    assert_eq!(keeper.records()[1..], [Record::FrameBegun(1)]);
}

#[test]
fn without_a_start_in_time_it_ends() {
    let mut keeper = Keeper::new();
    keeper.greet(HOST, None);
    assert_eq!(keeper.after(Duration::from_millis(4_999)), []);
    assert_eq!(keeper.after(Duration::from_millis(1)), [Effect::Finish]);
}

#[test]
fn a_start_at_the_last_moment_counts() {
    let mut keeper = Keeper::new();
    keeper.now += Duration::from_millis(5_000);
    assert_eq!(keeper.greet(HOST, Some(start())), [Effect::Start(start())]);
    keeper.step(Input::Born(AGENT));
    assert_eq!(keeper.after(Duration::from_millis(5_000)), []);
}

#[test]
fn a_host_that_comes_back_starts_the_time_anew() {
    let mut keeper = Keeper::running();
    keeper.step(Input::Closed(HOST));
    keeper.after(Duration::from_millis(59_000));
    keeper.greet(ConnectionId(2), None);
    keeper.after(Duration::from_millis(59_000));
    keeper.step(Input::Closed(ConnectionId(2)));
    assert_eq!(keeper.after(Duration::from_millis(59_000)), []);
}

#[test]
fn records_are_pushed_as_far_as_they_were_granted() {
    let mut keeper = Keeper::running();
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        keeper.output(&("x".repeat(999) + "\n"));
    }
    let mut push = |keeper: &mut Keeper| {
        out.clear();
        match keeper.core.push_records(&mut out, &mut scratch).unwrap() {
            Pushed::Nothing => None,
            Pushed::Some => {
                let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
                match Reply::decode(&message).unwrap() {
                    Reply::Push { position, bytes } => Some((position, bytes.to_vec())),
                    other => panic!("{other:?}"),
                }
            }
        }
    };
    assert_eq!(push(&mut keeper), None, "nothing was asked for");
    let cursor = Call::ReadFrom { from: ReadFrom::Cursor, window: 1 };
    assert_eq!(keeper.ask(&cursor), refused(Refusal::Malformed), "nothing to go on with");
    keeper.ask(&Call::ReadFrom { from: ReadFrom::Position(1), window: 2_500 });
    let (position, bytes) = push(&mut keeper).unwrap();
    assert_eq!((position, bytes.len()), (1, 2 * 1023));
    let (position, bytes) = push(&mut keeper).unwrap();
    assert_eq!((position, bytes.len()), (3, 1023), "at least one, then no more");
    assert_eq!(push(&mut keeper), None);
    keeper.ask(&Call::ReadFrom { from: ReadFrom::Cursor, window: 100_000 });
    let (position, bytes) = push(&mut keeper).unwrap();
    let mut assembler = Assembler::new(4);
    assembler.push(position, bytes);
    assert_eq!(std::iter::from_fn(|| assembler.next()).count(), 7);
    assert_eq!(push(&mut keeper), None, "that was all");
    keeper.output("live\n");
    assert_eq!(push(&mut keeper).unwrap().0, 11);
}

#[test]
fn a_frame_that_was_taken_back_is_never_written() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"one");
    keeper.write(2, b"two");
    keeper.write(3, b"three");
    let cancelled = Reply::Cancelled(Cancelled::Cancelled);
    assert_eq!(keeper.ask(&Call::CancelFrame { number: 2 }), cancelled);
    assert_eq!(keeper.ask(&Call::CancelFrame { number: 1 }), Reply::Cancelled(Cancelled::Begun));
    keeper.step(Input::StdinTook(3));
    assert_eq!(keeper.stdin(), b"three");
    assert_eq!(keeper.ask(&Call::CancelFrame { number: 2 }), cancelled, "also now");
    let expected = [
        Record::FrameBegun(1),
        Record::FrameCancelled(2),
        Record::FrameDone(1),
        Record::FrameBegun(3),
    ];
    assert_eq!(keeper.records()[1..], expected);
}

#[test]
fn a_stop_lets_no_frame_begin() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"one");
    keeper.write(2, b"two");
    keeper.stop(1000);
    keeper.step(Input::StdinTook(3));
    assert!(!keeper.core.has_stdin_bytes());
    assert_eq!(keeper.write(3, b"three"), refused(Refusal::Ended));
    assert_eq!(keeper.write(2, b"two"), Reply::Written(Written::Already));
    let frames = Frames { accepted: 2, begun: 1, done: 1 };
    assert_eq!(keeper.core.frames.numbers(), frames);
}

#[test]
fn reading_from_the_end_inside_a_line_begins_with_the_line() {
    let mut keeper = Keeper::running();
    keeper.output("first ");
    keeper.output("second ");
    let end = keeper.core.spool().end();
    keeper.ask(&Call::ReadFrom { from: ReadFrom::Position(end), window: 100_000 });
    keeper.output("third\n");
    let (mut out, mut scratch) = (Vec::new(), Vec::new());
    assert_eq!(keeper.core.push_records(&mut out, &mut scratch).unwrap(), Pushed::Some);
    let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
    let Reply::Push { position, bytes } = Reply::decode(&message).unwrap() else {
        panic!("a push")
    };
    let mut assembler = Assembler::new(end);
    assembler.push(position, bytes.to_vec());
    assert_eq!(assembler.next(), Some((line("first second third"), end + 1)));
}

#[test]
fn the_half_of_a_frame_that_a_host_has_left_cannot_be_completed_by_the_next() {
    let mut keeper = Keeper::running();
    let half = WriteChunk { number: 1, total: 4, offset: 0, bytes: b"on" };
    assert_eq!(keeper.call(HOST, &Call::WriteFrame(half)), []);
    let next = ConnectionId(2);
    keeper.greet(next, None);
    let rest = WriteChunk { number: 1, total: 4, offset: 2, bytes: b"e\n" };
    let effects = keeper.call(next, &Call::WriteFrame(rest));
    let out_of_order = refused(Refusal::OutOfOrder { expected: 1 });
    assert_eq!(effects, [Effect::Reply(next, 1, out_of_order)]);
    assert_eq!(keeper.records(), [Record::Started(AGENT)]);
}

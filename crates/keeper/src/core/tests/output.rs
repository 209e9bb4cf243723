use super::*;

#[test]
fn on_a_full_disk_lines_wait_and_marks_do_not() {
    let mut keeper = Keeper::running();
    keeper.fill_disk();
    let long = "x".repeat(9_000) + "\n";
    let mut lines = 0;
    while keeper.output(&long) == long.len() {
        lines += 1;
    }
    assert!(!keeper.core.wants_output());
    assert_eq!(keeper.core.stall(), Some(Stall::Disk));
    assert_eq!(keeper.output("not now\n"), 0);
    keeper.after(RETRY_EVERY);
    assert!(keeper.core.wants_output(), "tried again");
    assert_eq!(keeper.output(&long), 0, "and failed");
    assert_eq!(keeper.write(1, b"x"), Reply::Written(Written::Accepted));
    keeper.after(RETRY_EVERY);
    keeper.step(Input::StdinTook(1));
    keeper.free_disk();
    keeper.after(RETRY_EVERY);
    assert_eq!(keeper.output("at last\n"), 8);
    let records = keeper.records();
    let tail = [Record::FrameBegun(1), Record::FrameDone(1), line("at last")];
    assert_eq!(records[records.len() - 3..], tail);
    assert_eq!(records.len(), 1 + lines + 3);
}

#[test]
fn records_that_a_broken_disk_could_not_take_are_written_later_in_their_order() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"x");
    keeper.output("begun");
    keeper.break_disk();
    keeper.step(Input::StdinTook(1));
    keeper.stop(0);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(0);
    assert!(keeper.core.takes_last_bytes());
    assert_eq!(keeper.output("lost"), 4, "a dead agent's bytes cannot wait");
    keeper.step(Input::OutputEnded);
    assert_eq!(keeper.records(), [Record::Started(AGENT), Record::FrameBegun(1)]);
    keeper.free_disk();
    keeper.after(RETRY_EVERY);
    let expected = [
        Record::FrameDone(1),
        Record::Signalled { signal: 15, by: SignalledBy::Host },
        Record::Torn(b"begun".to_vec()),
        Record::StdoutClosed { lost_bytes: 4 },
        Record::Exited { exit: Exit::Signal(9), tree: TreeEnd::Clear },
    ];
    assert_eq!(keeper.records()[2..], expected);
}

#[test]
fn unread_records_are_synced_once_a_second_while_no_host_is_there() {
    let durable = |keeper: &mut Keeper| {
        let mut fs = keeper.files();
        fs.power_cut(|_| 0);
        read(fs)
    };
    let mut keeper = Keeper::running();
    keeper.output("one\n");
    keeper.after(RETRY_EVERY * 5);
    assert_eq!(durable(&mut keeper), [], "a host that is attached has them");
    keeper.step(Input::Closed(HOST));
    assert_eq!(durable(&mut keeper), [Record::Started(AGENT), line("one")]);
    keeper.output("two\n");
    assert_eq!(keeper.core.next_tick(), Some(keeper.now + RETRY_EVERY));
    keeper.after(RETRY_EVERY / 2);
    assert_eq!(durable(&mut keeper).len(), 2);
    keeper.after(RETRY_EVERY / 2);
    assert_eq!(durable(&mut keeper).len(), 3);
}

#[test]
fn an_agent_that_lives_on_with_a_closed_pipe_is_told_of_once() {
    let moment = Duration::from_millis(1);
    for (input, pipe) in [(Input::OutputEnded, Pipe::Stdout), (Input::StdinBroken, Pipe::Stdin)] {
        let mut keeper = Keeper::running();
        keeper.step(input);
        assert!(keeper.core.next_tick().unwrap() <= keeper.now + CUT_OFF_AFTER);
        keeper.after(CUT_OFF_AFTER - moment);
        assert!(!keeper.records().contains(&Record::CutOff(pipe)), "it may be about to exit");
        keeper.after(moment);
        keeper.step(Input::StdinBroken);
        keeper.step(Input::OutputEnded);
        keeper.after(10 * CUT_OFF_AFTER);
        let told = keeper.records().into_iter().filter(|it| matches!(it, Record::CutOff(_)));
        assert_eq!(told.collect::<Vec<_>>(), [Record::CutOff(pipe)]);
    }
}

#[test]
fn an_agent_that_exits_or_is_being_stopped_is_not_cut_off() {
    let end = |keeper: &mut Keeper| keeper.step(Input::AgentExited(Exit::Code(0)));
    let stop = |keeper: &mut Keeper| keeper.stop(60_000);
    let table: [fn(&mut Keeper) -> Vec<Effect>; 2] = [end, stop];
    for ends in table {
        let mut keeper = Keeper::running();
        keeper.step(Input::OutputEnded);
        keeper.after(CUT_OFF_AFTER / 2);
        ends(&mut keeper);
        keeper.after(CUT_OFF_AFTER);
        keeper.looked(1);
        let cut = keeper.records().into_iter().any(|it| matches!(it, Record::CutOff(_)));
        assert!(!cut, "{:?}", keeper.records());
    }
    // Nor one that was stopped before its pipe closed.
    let mut keeper = Keeper::running();
    keeper.stop(60_000);
    keeper.step(Input::OutputEnded);
    keeper.after(CUT_OFF_AFTER);
    assert!(!keeper.records().contains(&Record::CutOff(Pipe::Stdout)));
}

#[test]
fn what_is_told_of_a_cut_off_agent_is_synced_when_no_host_is_there() {
    let mut keeper = Keeper::running();
    keeper.step(Input::OutputEnded);
    keeper.after(RETRY_EVERY);
    keeper.step(Input::Closed(HOST));
    keeper.after(CUT_OFF_AFTER);
    assert!(keeper.core.next_tick().unwrap() > keeper.now, "nothing is due at once again");
    let mut fs = keeper.files();
    fs.power_cut(|_| 0);
    assert_eq!(read(fs), [Record::Started(AGENT), CLOSED, Record::CutOff(Pipe::Stdout)]);
}

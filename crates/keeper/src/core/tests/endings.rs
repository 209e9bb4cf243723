use super::*;

#[test]
fn a_stop_is_on_record_before_its_signal_and_gets_harder() {
    let mut keeper = Keeper::running();
    let effects = keeper.stop(500);
    assert_eq!(effects[0], Effect::Signal(Target::Tree, 15));
    assert_eq!(effects[1], Effect::Reply(HOST, 1, Reply::Stopping));
    let signalled = Record::Signalled { signal: 15, by: SignalledBy::Host };
    assert_eq!(keeper.records()[1..], [signalled]);
    assert_eq!(keeper.after(LOOK_EVERY), [Effect::Look]);
    assert_eq!(keeper.looked(2), []);
    assert_eq!(keeper.after(Duration::from_millis(500)), [Effect::Look]);
    assert_eq!(keeper.looked(2), [Effect::Signal(Target::Tree, 9)]);
    assert_eq!(keeper.after(LOOK_EVERY), [Effect::Look]);
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 9)], "until nothing is found");
    assert_eq!(keeper.step(Input::AgentExited(Exit::Signal(9))), [Effect::Look]);
    keeper.looked(1);
    assert!(!keeper.core.takes_last_bytes());
    keeper.looked(0);
    assert!(keeper.core.takes_last_bytes());
    keeper.output("last words\n");
    keeper.step(Input::OutputEnded);
    let exited = Record::Exited { exit: Exit::Signal(9), tree: TreeEnd::Clear };
    assert_eq!(keeper.records()[2..], [line("last words"), CLOSED, exited]);
}

#[test]
fn nothing_is_clear_while_the_agent_itself_has_not_exited() {
    let mut keeper = Keeper::running();
    keeper.stop(0);
    keeper.looked(0);
    assert!(!keeper.core.takes_last_bytes(), "its exit is still to come");
}

#[test]
fn what_cannot_be_killed_is_named_after_a_while() {
    let mut keeper = Keeper::running();
    keeper.stop(0);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.after(KILL_MAX);
    keeper.looked(3);
    keeper.step(Input::OutputEnded);
    let tree = TreeEnd::Survivors { named: survivors(3), count: 3 };
    let exited = Record::Exited { exit: Exit::Signal(9), tree };
    assert_eq!(keeper.records().last(), Some(&exited));
}

#[test]
fn an_agent_that_ends_by_itself_has_its_stdout_read_and_its_tree_ended() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.step(Input::AgentExited(Exit::Code(0))), [Effect::Look]);
    assert_eq!(keeper.looked(1), [], "what is left may still write");
    keeper.output("late\n");
    assert_eq!(keeper.after(DRAIN_MAX), [Effect::Look]);
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 15)]);
    assert_eq!(keeper.after(Duration::from_millis(1000)), [Effect::Look]);
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 9)]);
    keeper.looked(0);
    keeper.step(Input::OutputEnded);
    let exited = Record::Exited { exit: Exit::Code(0), tree: TreeEnd::Clear };
    assert_eq!(keeper.records()[1..], [line("late"), CLOSED, exited]);
}

#[test]
fn a_closed_stdout_is_not_waited_for() {
    let mut keeper = Keeper::running();
    keeper.step(Input::OutputEnded);
    keeper.step(Input::AgentExited(Exit::Code(0)));
    assert_eq!(keeper.looked(1), [Effect::Signal(Target::Tree, 15)]);
}

#[test]
fn a_survivor_that_goes_on_writing_does_not_keep_the_end_off() {
    let mut keeper = Keeper::running();
    keeper.stop(0);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.after(KILL_MAX);
    keeper.looked(1);
    let mut bytes = 0;
    while keeper.core.takes_last_bytes() {
        bytes += keeper.output(&"x".repeat(32_000));
        assert!(bytes < 10_000_000);
    }
    keeper.step(Input::Tick);
    assert!(matches!(keeper.records().last(), Some(Record::Exited { .. })));
}

#[test]
fn the_end_waits_to_be_acknowledged() {
    let mut keeper = Keeper::running();
    keeper.step(Input::AgentExited(Exit::Code(0)));
    keeper.looked(0);
    assert_eq!(keeper.step(Input::OutputEnded), []);
    let end = keeper.core.spool().end();
    let ahead = keeper.ask(&Call::Acknowledge { position: end + 1 });
    assert_eq!(ahead, refused(Refusal::Ahead { end }));
    assert_eq!(keeper.ask(&Call::Acknowledge { position: end - 1 }), Reply::Acknowledged);
    let effects = keeper.call(HOST, &Call::Acknowledge { position: end });
    assert_eq!(effects[0], Effect::Reply(HOST, 1, Reply::Acknowledged));
    assert!(effects.contains(&Effect::Finish));
}

#[test]
fn what_was_read_before_the_end_does_not_acknowledge_the_end() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.call(HOST, &Call::Acknowledge { position: 1 }).len(), 1, "no finish");
    keeper.step(Input::AgentExited(Exit::Code(0)));
    keeper.looked(0);
    assert_eq!(keeper.step(Input::OutputEnded), []);
}

#[test]
fn the_agent_alone_is_ended_and_its_children_are_held() {
    let mut keeper = Keeper::running();
    let scope = StopScope::Agent { grace: Duration::from_millis(100) };
    let effects = keeper.call(HOST, &Call::Stop(Stop { scope, unless_after: None }));
    assert_eq!(effects[0], Effect::Signal(Target::Agent, 15));
    keeper.after(Duration::from_millis(100));
    assert_eq!(keeper.looked(2), [Effect::Signal(Target::Agent, 9)]);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(1);
    keeper.step(Input::OutputEnded);
    let tree = TreeEnd::Left { named: survivors(1), count: 1 };
    assert_eq!(keeper.records().last(), Some(&Record::Exited { exit: Exit::Signal(9), tree }));
    assert_eq!(keeper.core.phase(), Phase::Holding);
    // Its stdout is read on and dropped, so that it does not block.
    assert!(keeper.core.wants_output());
    assert_eq!(keeper.output("dropped\n"), 8);
    let end = keeper.core.spool().end();
    assert_eq!(keeper.ask(&Call::Acknowledge { position: end }), Reply::Acknowledged);
    keeper.after(RETRY_EVERY);
    assert_eq!(keeper.looked(1), []);
    assert_eq!(keeper.looked(0), [Effect::Finish]);
}

#[test]
fn what_is_held_can_be_ended_later() {
    let mut keeper = Keeper::running();
    let scope = StopScope::Agent { grace: Duration::ZERO };
    keeper.call(HOST, &Call::Stop(Stop { scope, unless_after: None }));
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(1);
    keeper.step(Input::OutputEnded);
    let before = keeper.records();
    assert_eq!(keeper.stop(0)[0], Effect::Signal(Target::Tree, 9));
    assert_eq!(keeper.core.phase(), Phase::Stopping);
    keeper.looked(0);
    assert_eq!(keeper.core.phase(), Phase::Ended);
    assert_eq!(keeper.records(), before, "nothing comes behind the last record");
}

#[test]
fn a_signal_from_outside_is_durable_before_it_is_carried_out() {
    let mut keeper = Keeper::running();
    keeper.output("a line\n");
    let effects = keeper.step(Input::OutsideSignal(1));
    assert_eq!(effects, [Effect::Signal(Target::Tree, 15)]);
    let mut fs = keeper.files();
    fs.power_cut(|_| 0);
    let signalled = Record::Signalled { signal: 1, by: SignalledBy::Outside };
    assert_eq!(read(fs)[1..], [line("a line"), signalled]);
    assert_eq!(keeper.step(Input::OutsideSignal(1)), [Effect::Signal(Target::Tree, 9)]);
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.looked(0);
    let effects = keeper.step(Input::OutputEnded);
    assert_eq!(effects, [Effect::Finish], "also unread");
    let mut fs = keeper.files();
    fs.power_cut(|_| 0);
    assert!(matches!(read(fs).last(), Some(Record::Exited { .. })), "the end is durable too");
}

#[test]
fn without_a_host_for_too_long_the_tree_is_ended() {
    let mut keeper = Keeper::running();
    assert_eq!(keeper.after(Duration::from_secs(3600)), [], "while one is attached no time counts");
    keeper.step(Input::Closed(HOST));
    assert_eq!(keeper.after(Duration::from_millis(59_999)), []);
    assert_eq!(keeper.after(Duration::from_millis(1)), [Effect::Signal(Target::Tree, 15)]);
    let lost = Record::Signalled { signal: 15, by: SignalledBy::HostLost };
    assert_eq!(keeper.records()[1..], [lost]);
    assert_eq!(keeper.after(Duration::from_secs(3600)), [Effect::Look], "once");
}

#[test]
fn the_end_is_durable_also_while_a_host_is_attached() {
    let mut keeper = Keeper::running();
    keeper.step(Input::AgentExited(Exit::Code(0)));
    keeper.looked(0);
    keeper.step(Input::OutputEnded);
    let mut fs = keeper.files();
    fs.power_cut(|_| 0);
    assert!(matches!(read(fs).last(), Some(Record::Exited { .. })));
}

#[test]
fn a_survivor_that_still_reads_its_stdin_adds_nothing_to_the_record() {
    let mut keeper = Keeper::running();
    keeper.write(1, b"x");
    keeper.stop(0);
    keeper.after(KILL_MAX);
    keeper.looked(1);
    keeper.step(Input::OutputEnded);
    let ended = keeper.records();
    assert!(matches!(ended.last(), Some(Record::Exited { tree: TreeEnd::Survivors { .. }, .. })));
    assert_eq!(keeper.stdin(), b"");
    keeper.step(Input::StdinTook(1));
    keeper.step(Input::AgentExited(Exit::Signal(9)));
    keeper.after(KILL_MAX);
    assert_eq!(keeper.records(), ended);
}

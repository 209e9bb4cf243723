//! What becomes an item, a title, a task.

use holdfast_core::slash::SlashCommand;

use super::*;

fn say(id: &str, text: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!(r#""messageId":"{id}","#) };
    format!(
        r#"{{"sessionUpdate":"agent_message_chunk",{id}"content":{{"type":"text","text":"{text}"}}}}"#
    )
}

#[test]
fn pieces_grow_by_bytes_and_a_new_id_begins_a_new_item() {
    let mut chat = Chat::prompted();
    let told = chat.updates(&[&say("a", "é"), &say("a", "x"), &say("b", "y"), &say("b", "")]);
    assert_eq!(
        told,
        "taken 3\n1 opened Message\n1 Text@0 \"é\"\n1 Text@2 \"x\"\n\
         1 closed\n2 opened Message\n2 Text@0 \"y\"\n"
    );
}

#[test]
fn without_an_id_another_item_ends_a_message() {
    let mut chat = Chat::prompted();
    let usage = r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#;
    let told = chat.updates(&[&say("", "a"), usage, &say("", "b"), THINK, &say("", "c")]);
    assert_eq!(
        told,
        "taken 3\n1 opened Message\n1 Text@0 \"a\"\n1 Text@1 \"b\"\n1 closed\n\
         2 opened Thinking\n2 Text@0 \"hm\"\n2 closed\n3 opened Message\n3 Text@0 \"c\"\n"
    );
    let told = chat.updates(&[CALL, &say("", "d"), PLAN, &say("", "e")]);
    assert_eq!(
        told,
        "3 closed\n4 call ls Running\n5 opened Message\n5 Text@0 \"d\"\n5 closed\n\
         6 opened Plan\n7 opened Message\n7 Text@0 \"e\"\n"
    );
}

#[test]
fn a_plan_is_one_item_of_its_turn() {
    let mut chat = Chat::prompted();
    assert_eq!(chat.updates(&[PLAN, PLAN]), "taken 3\n1 opened Plan\n1 changed\n");
    let told = words(&chat.line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#));
    assert_eq!(told, "1 closed\nturn Completed -\n");
    assert_eq!(chat.updates(&[PLAN]), "stirred\n2 opened Plan\n");
}

#[test]
fn a_call_is_one_item_wherever_it_appears() {
    let mut chat = Chat::prompted();
    let told = words(&chat.line(ASK));
    assert_eq!(told, "taken 3\n1 call touch x Running\n2 prompt 1 Approval touch x\n");
    let told = chat.updates(&[
        r#"{"sessionUpdate":"tool_call","toolCallId":"c9","title":"touch x y","status":"in_progress"}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c9","status":"completed","content":[{"type":"content","content":{"type":"text","text":"ok"}}]}"#,
    ]);
    assert_eq!(
        told,
        "1 now touch x y Running\n1 Output@0 \"ok\"\n1 now touch x y Completed\n1 closed\n"
    );
}

#[test]
fn a_title_is_told() {
    let told = Chat::ready().updates(&[
        r#"{"sessionUpdate":"session_info_update","title":"A\nB"}"#,
        r#"{"sessionUpdate":"session_info_update","title":null}"#,
        r#"{"sessionUpdate":"session_info_update","_meta":{}}"#,
    ]);
    assert_eq!(told, "titled A B\n");
}

#[test]
fn tasks_are_told_apart_by_the_agents_ids() {
    let task = |id: &str, state: &str| {
        format!(
            r#"{{"method":"_holdfast/task","params":{{"taskId":"{id}","kind":"monitor","label":"l {id}","state":"{state}"}}}}"#
        )
    };
    let mut chat = Chat::ready();
    let told: String = [
        task("a", "running"),
        task("a", "running"),
        task("b", "running"),
        task("a", "failed"),
        task("a", "failed"),
        task("zz", "stopped"),
    ]
    .iter()
    .map(|line| words(&chat.line(line)))
    .collect();
    assert_eq!(told, "task 1 Monitor l a\ntask 2 Monitor l b\ntask 1 Failed\n");
    assert!(words(&chat.line(&task("a", "asleep"))).contains("unknown_task_state"));
    let stop = |n| Outgoing::StopTask { task: TaskId::new(1, n) };
    let encoded = chat.state.encode(FrameNo(9), &stop(2), &Content::default()).unwrap();
    assert_eq!(
        value(std::str::from_utf8(&encoded).unwrap()),
        json!({"jsonrpc":"2.0","id":9,"method":"_holdfast/task_stop","params":{"sessionId":"s1","taskId":"b"}})
    );
    let gone = chat.state.encode(FrameNo(9), &stop(1), &Content::default());
    assert!(matches!(gone, Err(EncodeError::TaskGone { task: 1 })));
}

#[test]
fn subagents_of_codex_are_tasks() {
    let sub = |rest: &str| {
        format!(r#"{{"sessionUpdate":"subagent_update","sessionId":"s1:subagent:x",{rest}}}"#)
    };
    let told = Chat::prompted().updates(&[
        &sub(r#""capabilities":{},"description":"look around""#),
        &sub(r#""state":{"state":"running"}"#),
        &sub(r#""cwd":"/w""#),
        &sub(r#""state":{"state":"idle","stopReason":"end_turn"}"#),
        &sub(r#""capabilities":{"cancel":null}"#),
        &sub(r#""state":{"state":"running"}"#),
        &sub(r#""state":{"state":"idle","stopReason":"cancelled"}"#),
    ]);
    assert_eq!(
        told,
        "task 1 Agent look around\ntask 1 Completed\ntask 2 Agent subagent\ntask 2 Stopped\n"
    );
}

#[test]
fn our_own_words_given_back_end_a_message_too() {
    let echo = r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"q"}}"#;
    let told = Chat::prompted().updates(&[&say("", "a"), echo, &say("", "b")]);
    assert!(told.ends_with("1 closed\n2 opened Message\n2 Text@0 \"b\"\n"), "{told}");
}

#[test]
fn a_piece_without_an_id_goes_on_only_if_nothing_came_between() {
    let told = Chat::prompted().updates(&[&say("a", "x"), &say("", "y"), CALL, &say("", "z")]);
    assert_eq!(
        told,
        "taken 3\n1 opened Message\n1 Text@0 \"x\"\n1 Text@1 \"y\"\n\
         2 call ls Running\n1 closed\n3 opened Message\n3 Text@0 \"z\"\n"
    );
}

#[test]
fn what_ends_with_a_turn_is_told_before_its_end_and_not_again() {
    let runs = r#"{"method":"_holdfast/task","params":{"taskId":"t","state":"running","label":"l","kind":"command","foreground":true}}"#;
    let done = r#"{"method":"_holdfast/task","params":{"taskId":"t","state":"completed"}}"#;
    for (reply, told) in [
        (
            r#"{"id":3,"result":{"stopReason":"end_turn"}}"#,
            "taken 3\ntask 1 Completed\nturn Completed -\n",
        ),
        (
            r#"{"id":3,"error":{"code":-32602,"message":"bad"}}"#,
            "task 1 Completed\nmessage failed 3 NotTaken bad\n",
        ),
    ] {
        let mut chat = Chat::prompted();
        assert_eq!(words(&chat.line(runs)), "task 1 Command l\n");
        assert_eq!(words(&chat.line(reply)), told);
        assert_eq!(chat.line(done), []);
    }
}

#[test]
fn what_can_be_written_after_a_slash_is_told_also_before_the_session_stands() {
    let update = |list: &str| {
        format!(
            r#"{{"method":"session/update","params":{{"sessionId":"s1","update":{{"sessionUpdate":"available_commands_update"{list}}}}}}}"#
        )
    };
    let told = update(
        r#","availableCommands":[{"name":"review","description":"Looks","input":{"hint":"[file]"}},{"name":"/plan","input":null},{"name":"plan"},{"description":"no name"},7]"#,
    );
    let command = |name, description, hint| SlashCommand::told(name, description, hint).unwrap();
    let commands = vec![command("review", "Looks", "[file]"), command("plan", "", "")];
    let (mut early, _) = Chat::starting(&spec());
    for chat in [&mut early, &mut Chat::ready()] {
        assert_eq!(chat.line(&told), [ProviderEvent::CommandsTold { commands: commands.clone() }]);
        let none = ProviderEvent::CommandsTold { commands: Vec::new() };
        assert_eq!(chat.line(&update(r#","availableCommands":[]"#)), [none]);
        assert_eq!(chat.line(&update("")), []);
    }
}

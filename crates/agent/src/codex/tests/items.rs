//! Items: texts, calls, plans, and what is beside them.

use super::*;

fn delta(id: &str, text: &str) -> String {
    json!({ "method": "item/agentMessage/delta",
            "params": { "threadId": "T", "turnId": "U", "itemId": id, "delta": text } })
    .to_string()
}

fn message(moment: &str, id: &str, text: &str) -> String {
    item(moment, &json!({ "type": "agentMessage", "id": id, "text": text }))
}

#[test]
fn a_text_grows_and_is_whole_at_its_end() {
    for (lines, told) in [
        (
            vec![
                message("started", "a", ""),
                delta("a", "he"),
                delta("a", "llo"),
                message("completed", "a", "hello!"),
            ],
            "1 opened Message\n1 Text@0 \"he\"\n1 Text@2 \"llo\"\n1 Text@5 \"!\"\n1 closed\n",
        ),
        (
            vec![message("completed", "a", "whole")],
            "1 opened Message\n1 Text@0 \"whole\"\n1 closed\n",
        ),
        (vec![message("started", "a", ""), message("completed", "a", "")], ""),
        (
            vec![
                delta("a", "x"),
                delta("b", "y"),
                message("completed", "b", "y"),
                message("completed", "a", "xz"),
            ],
            "1 opened Message\n1 Text@0 \"x\"\n2 opened Message\n2 Text@0 \"y\"\n2 closed\n1 Text@1 \"z\"\n1 closed\n",
        ),
        // What was cut short is never told whole.
        (
            vec![delta("a", "x"), INTERRUPTED.to_owned()],
            "1 opened Message\n1 Text@0 \"x\"\n1 closed\nturn Interrupted -\n",
        ),
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(Chat::working().told(&lines), told);
    }
}

#[test]
fn of_many_texts_that_have_no_end_the_oldest_are_closed() {
    let mut chat = Chat::working();
    let told: String = (0..30).map(|n| chat.said(&delta(&n.to_string(), "x"))).collect();
    assert_eq!(told.matches("opened").count(), 30);
    assert!(told.contains("1 closed\n") && told.matches("closed").count() == 6, "{told}");
}

#[test]
fn thoughts_have_parts() {
    let part = |index: u64, text: &str| {
        json!({ "method": "item/reasoning/summaryTextDelta",
                "params": { "threadId": "T", "itemId": "r", "delta": text, "summaryIndex": index } })
        .to_string()
    };
    let whole = item(
        "completed",
        &json!({ "type": "reasoning", "id": "r", "summary": ["ab", "c"], "content": [] }),
    );
    let told = Chat::working().told(&[&part(0, "a"), &part(0, "b"), &part(1, "c"), &whole]);
    assert_eq!(
        told,
        "1 opened Thinking\n1 Text@0 \"a\"\n1 Text@1 \"b\"\n1 Text@2 \"\\n\\nc\"\n1 closed\n"
    );
    let bare = item(
        "completed",
        &json!({ "type": "reasoning", "id": "r", "summary": [], "content": ["raw"] }),
    );
    assert!(Chat::working().said(&bare).contains("\"raw\""));
}

#[test]
fn a_command_begins_speaks_and_ends() {
    let output = |text: &str| {
        json!({ "method": "item/commandExecution/outputDelta",
                "params": { "threadId": "T", "turnId": "U", "itemId": "ls", "delta": text } })
        .to_string()
    };
    let done = command(
        "completed",
        "ls",
        &json!({ "status": "completed", "aggregatedOutput": "a\nb\n", "exitCode": 0 }),
    );
    let told = Chat::working().told(&[
        &command("started", "ls", &json!({})),
        &output("a\n"),
        &done,
        &done,
        &output("late"),
    ]);
    assert_eq!(
        told,
        "1 call ls Running\n1 Input@0 \"{\\\"command\\\":\\\"/bin/bash -lc 'ls'\\\",\\\"cwd\\\":\\\"/w\\\"}\"\n\
         1 Output@0 \"a\\n\"\n1 Output@2 \"b\\n\"\n1 now ls Completed\n1 closed\n"
    );
    for (status, state) in
        [("failed", "Failed"), ("declined", "Failed"), ("completed", "Completed")]
    {
        let done = command("completed", "ls", &json!({ "status": status }));
        assert!(Chat::working().said(&done).contains(&format!("1 now ls {state}")), "{status}");
    }
    // What was typed into it is further input.
    let typed = json!({ "method": "item/commandExecution/terminalInteraction",
        "params": { "threadId": "T", "itemId": "ls", "processId": "1", "stdin": "y\n" } })
    .to_string();
    let told = Chat::working().told(&[&command("started", "ls", &json!({})), &typed]);
    assert!(told.ends_with("\"\\n{\\\"stdin\\\":\\\"y\\\\n\\\"}\"\n"), "{told}");
}

#[test]
fn every_kind_of_call_has_a_name() {
    for (told, name, output) in [
        (
            json!({ "type": "fileChange", "changes": [{ "path": "/w/a.txt", "kind": { "type": "add" }, "diff": "one\ntwo\n" }] }),
            "Add a.txt",
            "--- /dev/null\n+++ /w/a.txt\n+one\n+two\n",
        ),
        (
            json!({ "type": "fileChange", "changes": [{ "path": "/w/a.txt", "kind": { "type": "update" }, "diff": "@@ -1 +1 @@\n-a\n+b\n" }] }),
            "Edit a.txt",
            "--- /w/a.txt\n+++ /w/a.txt\n@@ -1 +1 @@\n-a\n+b\n",
        ),
        (
            json!({ "type": "fileChange", "changes": [{ "path": "a", "kind": { "type": "delete" }, "diff": "x" }, { "path": "b" }] }),
            "Edit 2 files",
            "--- a\n+++ /dev/null\n-x\n--- b\n+++ b\n",
        ),
        (
            json!({ "type": "mcpToolCall", "server": "s", "tool": "t", "arguments": { "a": 1 }, "result": { "content": [{ "type": "text", "text": "r" }] } }),
            "s: t",
            "r",
        ),
        (
            json!({ "type": "mcpToolCall", "server": "s", "tool": "t", "error": { "message": "e" } }),
            "s: t",
            "e",
        ),
        (
            json!({ "type": "dynamicToolCall", "tool": "t", "contentItems": [{ "type": "inputText", "text": "o" }] }),
            "t",
            "o",
        ),
        (json!({ "type": "webSearch", "query": "q" }), "q", ""),
        (json!({ "type": "imageView", "path": "/w/p.png" }), "/w/p.png", ""),
        (
            json!({ "type": "imageGeneration", "savedPath": "/w/p.png", "result": "AAAA" }),
            "Image",
            "/w/p.png",
        ),
        (json!({ "type": "functionCallOutput", "name": "n", "output": "o" }), "n", "o"),
        (json!({ "type": "hookPrompt", "fragments": [{ "text": "f" }] }), "Hook", "f"),
        (json!({ "type": "sleep", "durationMs": 5 }), "Sleep", ""),
    ] {
        let mut told = told;
        told["id"] = json!("x");
        let mut shown = String::new();
        let mut chat = Chat::working();
        let events = chat.line(&item("completed", &told));
        for event in &events {
            if let ProviderEvent::ItemText {
                field: holdfast_core::item::Field::Output, text, ..
            } = event
            {
                shown.push_str(text);
            }
        }
        assert!(
            words(&events).starts_with(&format!("1 call {name} Running\n")),
            "{told}: {}",
            words(&events)
        );
        assert!(words(&events).ends_with("1 closed\n"));
        assert_eq!(shown, output, "{told}");
    }
}

#[test]
fn a_plan_is_one_item_of_its_turn() {
    let plan = |status: &str| {
        json!({ "method": "turn/plan/updated", "params": { "threadId": "T", "turnId": "U",
            "plan": [{ "step": "one", "status": status }] } })
        .to_string()
    };
    let told = Chat::working().told(&[&plan("inProgress"), &plan("completed"), ENDED]);
    assert_eq!(told, "1 opened Plan\n1 changed\n1 closed\nturn Completed -\n");
}

#[test]
fn what_somebody_else_says_to_the_agent_is_shown() {
    let foreign = OURS.replace("msg_00000000000000000000000000000009", "tui");
    assert_eq!(Chat::working().said(&foreign), "1 opened Message\n1 Text@0 \"hi\"\n1 closed\n");
}

#[test]
fn a_request_that_is_tried_again_is_one_notice_and_cuts_what_was_said() {
    let error = |message: &str, again: bool| {
        json!({ "method": "error", "params": { "threadId": "T", "willRetry": again,
            "error": { "message": message, "additionalDetails": "gone" } } })
        .to_string()
    };
    let mut chat = Chat::working();
    let told =
        chat.told(&[SAY, &error("Reconnecting... 1/5", true), &error("Reconnecting... 2/5", true)]);
    assert_eq!(
        told,
        "1 opened Message\n1 Text@0 \"hi\"\n1 closed\n2 notice Retrying { attempt: 1, of: 5 }\n\
         2 Text@0 \"Reconnecting... 1/5 (gone)\"\n2 changed\n"
    );
    assert_eq!(chat.told(&[&error("no more", false), ENDED]), "2 closed\nturn Completed -\n");
}

#[test]
fn the_agent_names_the_chat_and_says_what_it_has_to_say() {
    let name = r#"{"method":"thread/name/updated","params":{"threadId":"T","threadName":"N"}}"#;
    let warning = r#"{"method":"warning","params":{"threadId":"T","message":"careful"}}"#;
    let told = Chat::working().told(&[name, &name.replace("\"T\"", "\"X\""), warning]);
    assert_eq!(told, "titled N\n1 notice AgentSays\n1 Text@0 \"careful\"\n1 closed\n");
    let compaction = item("completed", &json!({ "type": "contextCompaction", "id": "k" }));
    assert_eq!(Chat::working().said(&compaction), "1 opened Compaction\n1 closed\n");
    let settings = r#"{"method":"thread/settings/updated","params":{"threadId":"T","threadSettings":{"model":"n","approvalPolicy":"never","sandboxPolicy":{"type":"dangerFullAccess"}}}}"#;
    assert_eq!(Chat::working().said(settings), "retuned n full-access\n");
}

use crate::support::{TestDir, apply_patch, restitch};

#[test]
fn the_doctor_tells_what_there_is_and_leaves_nothing() {
    let dir = TestDir::new(&[("a.txt", "one\n")]);
    let before = dir.tree();
    let said = restitch(dir.path(), &["doctor"], "").exits(0);
    for part in ["restitch", "features", "root", "confinement", "exchange", "lock", "leftovers    none", "git"] {
        assert!(said.out.contains(part), "{part} is not in\n{}", said.out);
    }
    assert_eq!(dir.tree(), before);
    restitch(dir.path(), &["doctor", "--root", "absent"], "").exits(2);
}

#[test]
fn the_lines_for_each_agent_parse_and_name_the_program() {
    let dir = TestDir::new(&[]);
    let program = "/opt/a \"b\"/restitch";
    for agent in ["claude-code", "codex", "opencode", "zed", "goose"] {
        let said = restitch(dir.path(), &["init", "--agent", agent, "--program", program], "").exits(0);
        assert!(said.err.contains("Add this to"), "{}", said.err);
        let command = match agent {
            "codex" => {
                let lines: toml::Table = said.out.parse().unwrap();
                let server = lines["mcp_servers"]["restitch"].clone();
                assert_eq!(server["args"].as_array().unwrap().len(), 1);
                server["command"].as_str().unwrap().to_owned()
            }
            // YAML takes JSON strings as they are.
            "goose" => {
                let line = said.out.lines().find_map(|line| line.trim().strip_prefix("cmd: ")).unwrap();
                serde_json::from_str(line).unwrap()
            }
            _ => {
                let lines: serde_json::Value = serde_json::from_str(&said.out).unwrap();
                let servers = [("claude-code", "mcpServers"), ("opencode", "mcp"), ("zed", "context_servers")];
                let key = servers.iter().find(|(name, _)| *name == agent).unwrap().1;
                let command = &lines[key]["restitch"]["command"];
                command.as_str().or(command[0].as_str()).unwrap().to_owned()
            }
        };
        assert_eq!(command, program, "{agent}");
    }
    restitch(dir.path(), &["init", "--agent", "unknown"], "").exits(2);
}

#[test]
fn completions_and_man_pages_name_the_flags() {
    let dir = TestDir::new(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        for program in ["restitch", "apply_patch"] {
            let said = restitch(dir.path(), &["completions", shell, "--program", program], "").exits(0);
            assert!(said.out.contains(program) && said.out.contains("protect"), "{shell} {program}");
        }
    }
    for (page, part) in
        [("restitch", "doctor"), ("apply_patch", "Begin Patch"), ("search", "ignore"), ("apply", "protect")]
    {
        let said = restitch(dir.path(), &["man", page], "").exits(0);
        assert!(said.out.contains(".TH") && said.out.contains(part), "{page}:\n{}", said.out);
    }
    let said = restitch(dir.path(), &["man", "absent"], "").exits(2);
    assert!(said.err.contains("search"), "{}", said.err);
    apply_patch(dir.path(), &["--help"], "").exits(0);
}

use super::*;

const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+x $HOME `id` \\n\n*** End Patch\n";
const PLAIN: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";

fn shown(detected: Detected) -> String {
    match detected {
        Detected::Call(Invocation { patch, directory }) => {
            let which = match patch.as_str() {
                PATCH => "patch",
                PLAIN => "plain",
                text if format!("{text}\n") == PATCH => "patch without newline",
                text if format!("{text}\n") == PLAIN => "plain without newline",
                text => text,
            };
            format!("{which}{}", directory.map(|dir| format!(" in {dir}")).unwrap_or_default())
        }
        Detected::BarePatch => "bare".to_owned(),
        Detected::Other => "other".to_owned(),
    }
}

fn fill(text: &str) -> String {
    text.replace("{PATCH}", PATCH).replace("{PLAIN}", PLAIN)
}

#[test]
fn a_script_is_a_call_only_if_that_is_all_it_does() {
    let table = [
        // taken
        ("apply_patch <<'E'\n{PATCH}E\n", "patch"),
        ("apply_patch <<'E'\n{PATCH}E", "patch"),
        ("applypatch <<\"END OF\"\n{PATCH}END OF\n", "patch"),
        ("apply_patch << 'PATCH'\n{PATCH}PATCH\n\n", "patch"),
        ("apply_patch <<E\n{PLAIN}E\n", "plain"),
        ("apply_patch <<-'E'\n\t*** Begin Patch\n\t*** Add File: a\n\t+x\n\t*** End Patch\n\tE\n", "plain"),
        ("/usr/bin/apply_patch <<'E'\n{PATCH}E\n", "patch"),
        ("cd src && apply_patch <<'E'\n{PATCH}E\n", "patch in src"),
        ("cd \"my dir\" && apply_patch <<'E'\n{PATCH}E\n", "patch in my dir"),
        ("cd '/a/b c' && apply_patch <<'E'\n{PATCH}E\n", "patch in /a/b c"),
        ("cat <<'E' | apply_patch\n{PATCH}E\n", "patch"),
        ("apply_patch '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n'", "plain"),
        ("apply_patch \"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\"", "plain without newline"),
        ("cd src && apply_patch '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n'", "plain in src"),
        ("\n\napply_patch <<'E'\n{PATCH}E\n", "patch"),
        ("apply_patch @'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n'@", "plain"),
        ("@'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n'@ | apply_patch", "plain"),
        // a patch where a command belongs
        ("{PATCH}", "bare"),
        ("  \n{PATCH}", "bare"),
        // left to the shell
        ("apply_patch <<E\n{PATCH}E\n", "other"),
        ("apply_patch <<'E'\n{PATCH}", "other"),
        ("apply_patch <<'E'\r\n{PATCH}E\r\n", "other"),
        ("apply_patch <<'E'\n{PATCH}E\necho done\n", "other"),
        ("apply_patch <<'E' && echo done\n{PATCH}E\n", "other"),
        ("apply_patch <<'E' > log\n{PATCH}E\n", "other"),
        ("apply_patch <<'E' | tee log\n{PATCH}E\n", "other"),
        ("apply_patch <<'E' &\n{PATCH}E\n", "other"),
        ("apply_patch <<'A' <<'B'\n{PATCH}A\n{PATCH}B\n", "other"),
        ("apply_patch --check <<'E'\n{PATCH}E\n", "other"),
        ("sudo apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("X=1 apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("echo x; apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd src; apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd src || apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd a b && apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd $HOME && apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd ~ && apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd - && apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd a && cd b && apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cd a && make && apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("echo $(apply_patch <<'E'\n{PATCH}E\n)", "other"),
        ("if true; then apply_patch <<'E'\n{PATCH}E\nfi", "other"),
        ("(apply_patch <<'E'\n{PATCH}E\n)", "other"),
        ("! apply_patch <<'E'\n{PATCH}E\n", "other"),
        ("cat <<'E' > apply_patch\n{PATCH}E\n", "other"),
        ("cat <<'E' | grep apply_patch\n{PATCH}E\n", "other"),
        ("cat x <<'E' | apply_patch\n{PATCH}E\n", "other"),
        ("cat patch.txt | apply_patch", "other"),
        ("apply_patch < patch.txt", "other"),
        ("apply_patch patch.txt", "other"),
        ("apply_patch \"*** Begin Patch\n*** Add File: $x\n*** End Patch\"", "other"),
        ("apply_patch", "other"),
        ("git apply <<'E'\n{PATCH}E\n", "other"),
        ("echo apply_patch", "other"),
        ("ls", "other"),
        ("", "other"),
        ("apply_patch @'\n'@\n'@", "other"),
    ];
    for (script, want) in table {
        let script = fill(script);
        assert_eq!(shown(Detected::of_script(&script)), want, "{script}");
    }
}

#[test]
fn words_are_a_call_or_a_wrapper_of_a_script() {
    let heredoc = "apply_patch <<'E'\n{PATCH}E\n";
    let table: &[(&[&str], &str)] = &[
        (&["apply_patch", "{PATCH}"], "patch"),
        (&["/opt/bin/applypatch", "{PATCH}"], "patch"),
        (&["bash", "-lc", heredoc], "patch"),
        (&["/bin/sh", "-c", heredoc], "patch"),
        (&["zsh", "-l", "-c", heredoc], "patch"),
        (&["pwsh", "-NoProfile", "-Command", heredoc], "patch"),
        (&["powershell.exe", "-c", "apply_patch @'\n{PLAIN}'@"], "plain"),
        (&["cmd", "/C", heredoc], "patch"),
        (&["{PATCH}"], "bare"),
        (&["bash", "-lc", "{PATCH}"], "bare"),
        (&["apply_patch"], "other"),
        (&["apply_patch", "--check", "{PATCH}"], "other"),
        (&["bash", "-x", "-c", heredoc], "other"),
        (&["bash", heredoc], "other"),
        (&["bash", "-lc", heredoc, "name"], "other"),
        (&["pwsh", "-File", heredoc], "other"),
        (&["env", "apply_patch", "{PATCH}"], "other"),
        (&["ls"], "other"),
        (&[], "other"),
    ];
    for (words, want) in table {
        let words: Vec<String> = words.iter().map(|word| fill(word)).collect();
        assert_eq!(shown(Detected::of_words(&words)), *want, "{words:?}");
    }
}

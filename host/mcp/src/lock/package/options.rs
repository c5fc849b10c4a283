//! Options of package runners that take the next word as their value.

/// Word of a command line.
pub(super) struct Word<'a> {
    /// Index of the argument that it is, or is part of.
    pub(super) index: usize,
    pub(super) text: &'a str,
}

/// Relevant words of a command line.
pub(super) struct Words<'a> {
    /// Values of options that name packages.
    pub(super) named: Vec<Word<'a>>,
    /// First word that is not an option.
    pub(super) first: Option<Word<'a>>,
}

/// Reads arguments from `start` up to the first that is not an option.
pub(super) fn read<'a>(
    args: &'a [String],
    start: usize,
    takes_value: fn(&str) -> bool,
    packages: &[&str],
) -> Words<'a> {
    let mut named = Vec::new();
    let word = |index: usize| args.get(index).map(|text| Word { index, text: text.as_str() });
    let mut index = start;
    while let Some(option) = args.get(index) {
        if option == "--" {
            return Words { named, first: word(index + 1) };
        }
        if !option.starts_with('-') {
            break;
        }
        match option.split_once('=') {
            Some((name, text)) if packages.contains(&name) => named.push(Word { index, text }),
            Some(_) => {}
            None if packages.contains(&option.as_str()) => {
                index += 1;
                named.extend(word(index));
            }
            None if takes_value(option) => index += 1,
            None => {}
        }
        index += 1;
    }
    Words { named, first: word(index) }
}

/// Returns the index of the first argument of a subcommand, if it is this one.
pub(super) fn subcommand(
    args: &[String],
    start: usize,
    names: &[&str],
    takes_value: fn(&str) -> bool,
) -> Option<usize> {
    let first = read(args, start, takes_value, &[]).first?.index;
    let given = args.get(first..first + names.len())?;
    given.iter().eq(names).then_some(first + names.len())
}

/// npx, npm, pnpm, yarn and bunx.
pub(super) fn npm(option: &str) -> bool {
    let options = "-p --package -c --call -w --workspace -C --prefix --cwd --dir --registry --cache --userconfig \
        --globalconfig --loglevel --script-shell --node-options --node-arg -n --shell --reporter \
        --allow-build --filter -F --before --tag --otp";
    is_among(options, option)
}

/// uvx, uv and pipx.
pub(super) fn python(option: &str) -> bool {
    let options = "--with -w --with-editable --with-requirements -p --python --index --default-index -i --index-url \
        --extra-index-url -f --find-links --index-strategy --keyring-provider --allow-insecure-host -P \
        --upgrade-package --reinstall-package --refresh-package --resolution --prerelease --fork-strategy -C \
        --config-setting --config-settings-package --exclude-newer --exclude-newer-package --link-mode \
        --no-build-package --no-binary-package -c --constraints -b --build-constraints --overrides \
        --env-file --python-platform --torch-backend --cache-dir --color --directory --project --config-file \
        --pip-args --backend --fetch-python --no-build-isolation-package --no-sources-package";
    is_among(options, option)
}

/// deno run. Its permissions take values after `=` only.
pub(super) fn deno(option: &str) -> bool {
    let options = "-c --config --import-map --cert --ext --location --seed --preload --import --require -L --log-level";
    is_among(options, option)
}

/// docker itself, before its subcommand.
pub(super) fn docker_itself(option: &str) -> bool {
    let options = "-c --context -H --host --config -l --log-level --tlscacert --tlscert --tlskey --connection --url \
        --root --namespace -n --address -a";
    is_among(options, option)
}

/// docker run: almost all of its many options take a value, so those without one are listed.
pub(super) fn docker_run(option: &str) -> bool {
    let switches = "--rm --interactive --tty --detach --init --privileged --read-only --publish-all --quiet \
        --no-healthcheck --oom-kill-disable --sig-proxy --disable-content-trust --use-api-socket --replace \
        --no-hosts --tls-verify --env-host --http-proxy";
    if option.starts_with("--") {
        return !is_among(switches, option);
    }
    // Letters may be combined, as in `-it`; the rest after one that takes a value is its value.
    let letters = option.trim_start_matches('-');
    letters.find(|letter| !"itdPq".contains(letter)).is_some_and(|place| place + 1 == letters.len())
}

fn is_among(options: &str, option: &str) -> bool {
    options.split_whitespace().any(|known| known == option)
}

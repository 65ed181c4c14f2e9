import type { Command } from 'commander';
import { UsageError } from './usage-error.ts';

type Words = { readonly command: string; readonly description: string; readonly options: readonly string[] };

/** The name that a shell completes: a plugin is completed by kubectl. */
const PROGRAM = 'semaphore';

const scripts: Readonly<Record<string, (commands: readonly Words[]) => string>> = {
  bash: (commands) => `_${PROGRAM}() {
  local words='${commands.map(({ command }) => command).join(' ')}'
  if [ "$COMP_CWORD" -gt 1 ]; then
    case "\${COMP_WORDS[1]}" in
${commands.map(({ command, options }) => `      ${command}) words='${options.join(' ')}' ;;`).join('\n')}
      *) words='' ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _${PROGRAM} ${PROGRAM}
`,
  zsh: (commands) => `#compdef ${PROGRAM}
_${PROGRAM}() {
  if (( CURRENT == 2 )); then
    compadd ${commands.map(({ command }) => command).join(' ')}
    return
  fi
  case "$words[2]" in
${commands.map(({ command, options }) => `    ${command}) compadd -- ${options.join(' ')} ;;`).join('\n')}
  esac
}
compdef _${PROGRAM} ${PROGRAM}
`,
  fish: (commands) =>
    commands
      .flatMap(({ command, description, options }) => [
        `complete -c ${PROGRAM} -f -n __fish_use_subcommand -a ${command} -d '${description}'`,
        ...options.map(
          (option) =>
            `complete -c ${PROGRAM} -n '__fish_seen_subcommand_from ${command}' -l ${option.replace(/^--/, '')}`,
        ),
      ])
      .map((line) => `${line}\n`)
      .join(''),
};

export const shells = Object.keys(scripts);

/** A script that completes the commands of `program`, and their options. @throws {UsageError} for another shell */
export function completionOf(program: Command, shell: string): string {
  const script = scripts[shell];
  if (script === undefined) throw new UsageError(`"${shell}" is not a known shell: use ${shells.join(', ')}`);
  const commands = program.commands.map((command) => ({
    command: command.name(),
    description: command.description().replaceAll("'", ''),
    options: command.options.flatMap(({ long }) => long ?? []),
  }));
  return script(commands);
}

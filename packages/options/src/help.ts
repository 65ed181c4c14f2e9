import { Command, Help, Option } from 'commander';
import type { Program } from './program.ts';
import { defaultOf, rowsOf, type AnySpec, type OptionTable } from './table.ts';

/** Fixed, so that help is the same in a terminal, in the log of a pod and in a test. */
const COLUMNS = 110;

const FLAG_RULES =
  'Flags take one hyphen or two, and their value after a space or "="; switches after "=" only. ' +
  'A flag overrides its variable, which overrides the default.';

/** An option that commander lists under our term: it doesn't support `-long-flag`, nor a variable without a flag. */
class Listed extends Option {
  readonly term: string;

  constructor(term: string, { group, description }: { group: string; description: string }) {
    super(`--${term.replace(/^-/, '').replace(/ .*/, '')}`, description);
    this.term = term;
    this.helpGroup(`${group}:`);
  }
}

/** commander's layout with those terms. */
class GoStyleHelp extends Help {
  override helpWidth = COLUMNS;

  override optionTerm(option: Option): string {
    return option instanceof Listed ? option.term : option.flags;
  }

  override optionDescription(option: Option): string {
    return option.description;
  }

  override subcommandTerm(command: Command): string {
    return command.name();
  }
}

/**
 * What `-help` prints: usage, every option of the table by group with its default and its variable, and the
 * subcommands. Help of a subcommand doesn't list subcommands.
 */
export function helpText<C>(
  table: OptionTable<C>,
  { program, subcommand }: { program: Program; subcommand: string | undefined },
): string {
  const subcommands = program.subcommands ?? [];
  const chosen = subcommands.find(({ name }) => name === subcommand);
  const command = new Command(chosen ? `${program.name} ${chosen.name}` : program.name)
    .description(`${chosen?.description ?? program.description}\n\n${FLAG_RULES}`)
    .usage(chosen || subcommands.length === 0 ? '[flags]' : '[command] [flags]')
    .helpOption(false)
    .helpCommand(false);
  command.createHelp = () => new GoStyleHelp();
  for (const [, spec] of rowsOf(table)) command.addOption(listed(spec));
  command.addOption(new Listed('-help', { group: 'Help', description: 'Print this.' }));
  command.addOption(new Listed('-version', { group: 'Help', description: 'Print name, version and commit.' }));
  if (!chosen) for (const { name, description } of subcommands) command.command(name).description(description);
  return command.helpInformation();
}

function listed(spec: AnySpec): Listed {
  const { flag, env, type, group, help, required } = spec;
  const valued = type.isSwitch ? `-${flag}` : `-${flag} <${type.label}>`;
  const fallback = defaultOf(spec);
  const facts = [
    fallback && (required ? fallback : `default ${fallback}`),
    flag === undefined ? 'only a variable' : env,
  ];
  const description = `${help} (${facts.filter(Boolean).join('; ')})`;
  return new Listed(flag === undefined ? env : valued, { group, description });
}

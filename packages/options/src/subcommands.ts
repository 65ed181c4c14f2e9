import { variableOf, type OptionTable } from './table.ts';
import { boolean, duration, oneOf } from './types.ts';

/** What the subcommands of all apps have in common. */
export type SubcommandOptions = {
  /** Of what is printed. */
  readonly output: 'text' | 'json';
  /** How long `plan` waits for the local cluster, and then for the remotes. */
  readonly timeoutMs: number;
  /** Whether `cleanup` goes ahead without a question. */
  readonly yes: boolean;
};

/**
 * The rows of `SubcommandOptions`.
 *
 * @param prefix of the app's variables: `SP`
 * @param printing the subcommands that print what they find: `['plan', 'status']`
 * @param local what these wait for first: `the local sets`
 */
export function subcommandOptions({
  prefix,
  printing,
  local,
}: {
  prefix: string;
  printing: readonly string[];
  local: string;
}): OptionTable<SubcommandOptions> {
  const row = (flag: string) => ({ flag, env: variableOf(prefix, flag), group: 'Subcommands' });
  const s = printing.length === 1 ? 's' : '';
  return {
    output: {
      ...row('o'),
      env: `${prefix}_OUTPUT`,
      type: oneOf(['text', 'json']),
      fallback: 'text',
      help: `Output format of ${printing.join(' and ')}.`,
    },
    timeoutMs: {
      ...row('timeout'),
      type: duration({ minMs: 1_000 }),
      fallback: 30_000,
      help: `How long ${printing.join(' and ')} wait${s} for ${local}, and then for remotes.`,
    },
    yes: {
      ...row('yes'),
      type: boolean,
      fallback: false,
      help: 'Makes cleanup remove without a question.',
    },
  };
}

import { describe, expect, it } from 'vitest';
import { helpText } from './help.ts';
import type { OptionTable } from './table.ts';
import { boolean, duration, oneOf, text } from './types.ts';

type Config = {
  name: string;
  kubeConfig: string | undefined;
  level: 'debug' | 'info';
  sync: boolean;
  token: string | undefined;
  resyncPeriodMs: number;
};

const table: OptionTable<Config> = {
  name: { flag: 'name', env: 'SP_NAME', group: 'Remote', type: text('name'), required: true, help: 'Its name.' },
  token: { env: 'SP_TOKEN', secret: true, group: 'Remote', type: text('token'), help: 'Its token.' },
  kubeConfig: {
    flag: 'kube-config',
    env: 'SP_KUBE_CONFIG',
    group: 'Local',
    type: text('file'),
    absent: 'in-cluster',
    help: 'Where this one is.',
  },
  resyncPeriodMs: {
    flag: 'resync-period',
    env: 'SP_RESYNC_PERIOD',
    group: 'Remote',
    type: duration(),
    fallback: 3_600_000,
    help: 'Time between two checks of everything, in a sentence that is too long for one line of the help text.',
  },
  level: {
    flag: 'level',
    env: 'SP_LEVEL',
    group: 'Local',
    type: oneOf(['debug', 'info']),
    fallback: 'info',
    help: 'How much.',
  },
  sync: { flag: 'sync', env: 'SP_SYNC', group: 'Local', type: boolean, fallback: false, help: 'Whether.' },
};

const program = {
  name: 'semaphore-test',
  version: '1.2.3',
  description: 'Tests the help.',
  subcommands: [{ name: 'plan', description: 'Prints what would change.' }],
};

describe('helpText', () => {
  it('lists options by group with default and variable, and the commands', () => {
    expect(helpText(table, { program, subcommand: undefined })).toMatchInlineSnapshot(`
      "Usage: semaphore-test [command] [flags]

      Tests the help.

      Flags take one hyphen or two, and their value after a space or "="; switches after "=" only. A flag overrides
      its variable, which overrides the default.

      Remote:
        -name <name>               Its name. (required; SP_NAME)
        SP_TOKEN                   Its token. (only a variable)
        -resync-period <duration>  Time between two checks of everything, in a sentence that is too long for one
                                   line of the help text. (default 1h; SP_RESYNC_PERIOD)

      Local:
        -kube-config <file>        Where this one is. (default in-cluster; SP_KUBE_CONFIG)
        -level <debug|info>        How much. (default info; SP_LEVEL)
        -sync                      Whether. (default false; SP_SYNC)

      Help:
        -help                      Print this.
        -version                   Print name, version and commit.

      Commands:
        plan                       Prints what would change.
      "
    `);
  });

  it('names the subcommand and lists no others', () => {
    const text = helpText(table, { program, subcommand: 'plan' });
    expect(text).toMatch(/^Usage: semaphore-test plan \[flags\]\n\nPrints what would change\./);
    expect(text).not.toContain('Commands:');
  });

  it('fits into 110 columns', () => {
    const lines = helpText(table, { program, subcommand: undefined }).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(110);
  });
});

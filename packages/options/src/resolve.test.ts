import { bad, good } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { resolveOptions, type Given, type ResolveInput } from './resolve.ts';
import type { OptionTable } from './table.ts';
import { boolean, duration, integer, text } from './types.ts';

type Config = {
  name: string;
  kubeConfig: string | undefined;
  resyncPeriodMs: number;
  limit: number;
  sync: boolean;
  token: string | undefined;
};

const row = (flag: string, env: string) => ({ flag, env, group: 'All', help: 'A sentence.' });

const table: OptionTable<Config> = {
  name: { ...row('name', 'SP_NAME'), aliases: ['KPS_NAME', 'OLD_NAME'], type: text('name'), required: true },
  kubeConfig: { ...row('kube-config', 'SP_KUBE_CONFIG'), type: text('file') },
  resyncPeriodMs: { ...row('resync-period', 'SP_RESYNC_PERIOD'), type: duration(), fallback: 3_600_000 },
  limit: { ...row('limit', 'SP_LIMIT'), type: integer({ min: 1, max: 9 }), fallback: 5 },
  sync: { ...row('sync', 'SP_SYNC'), type: boolean, fallback: true },
  token: {
    env: 'SP_TOKEN',
    secret: true,
    group: 'All',
    type: { ...text('token'), parse: (raw) => (raw === 's3cret' ? bad(raw) : good(raw)) },
    help: 'A sentence.',
  },
};

const program = { name: 'semaphore-test', version: '1.2.3', description: 'Tests.' };

const resolve = (argv: string[], env: Record<string, string> = {}, more: Partial<ResolveInput<Config>> = {}) =>
  resolveOptions(table, { program, argv, env, ...more });

async function run(...input: Parameters<typeof resolve>) {
  const resolution = await resolve(...input);
  if (resolution.kind !== 'run') throw new Error(resolution.stderr ?? resolution.stdout ?? '');
  return resolution;
}

describe('a config', () => {
  it.each([
    { name: 'has the default', argv: [], env: {}, want: { resyncPeriodMs: 3_600_000, sync: true } },
    { name: 'has a variable', argv: [], env: { SP_RESYNC_PERIOD: '1s' }, want: { resyncPeriodMs: 1_000 } },
    { name: 'has the flag before the variable', argv: ['-limit=2'], env: { SP_LIMIT: '3' }, want: { limit: 2 } },
    {
      name: 'ignores a bad variable if there is a flag',
      argv: ['-limit=2'],
      env: { SP_LIMIT: 'x' },
      want: { limit: 2 },
    },
    {
      name: 'has undefined for what is not given',
      argv: [],
      env: {},
      want: { kubeConfig: undefined, token: undefined },
    },
    { name: 'ignores an empty variable', argv: [], env: { SP_LIMIT: '' }, want: { limit: 5 } },
    {
      name: 'has the default for an empty flag, whatever the variable says',
      argv: ['-kube-config='],
      env: { SP_KUBE_CONFIG: 'f' },
      want: { kubeConfig: undefined },
    },
    { name: 'has a switch', argv: ['-sync=f'], env: {}, want: { sync: false } },
    { name: 'has a switch from its variable', argv: [], env: { SP_SYNC: 'FALSE' }, want: { sync: false } },
    { name: 'has a secret', argv: [], env: { SP_TOKEN: 'abc' }, want: { token: 'abc' } },
  ])('$name', async ({ argv, env, want }) => {
    const { config } = await run(argv, { SP_NAME: 'c2', ...env });
    expect(config).toMatchObject(want);
  });

  it("can't be changed", async () => {
    const { config } = await run(['-name=c2']);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('comes with the given keys', async () => {
    const { given } = await run(['-name=c2', '-limit=5', '-kube-config='], { SP_SYNC: 'true', SP_RESYNC_PERIOD: '' });
    expect([...given]).toEqual(['name', 'limit', 'sync']);
  });

  it('comes with the subcommand', async () => {
    const subcommands = [{ name: 'plan', description: 'Plans.' }];
    const resolution = await run(['plan', '-name=c2'], {}, { program: { ...program, subcommands } });
    expect(resolution).toMatchObject({ subcommand: 'plan', config: { name: 'c2' } });
  });
});

describe('a subcommand that another program has now', () => {
  const moved = { ask: (words: readonly string[]) => `other ask ${words.join(' ')}` };
  const runMoved = (...argv: string[]) => resolve(argv, {}, { program: { ...program, moved } });

  it('ends with a line that names it, whatever the flags are', async () => {
    expect(await runMoved('ask', 'a', 'b', '-bogus', 'c')).toEqual({
      kind: 'exit',
      code: 2,
      stderr: `${program.name}: ask has moved: use other ask a b\n`,
    });
  });

  it('is another word elsewhere, and property names of Object are none', async () => {
    for (const argv of [['-name=c2', 'ask'], ['constructor']])
      expect(await runMoved(...argv)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('unexpected word "') as string,
      });
  });
});

describe('an older spelling of a variable', () => {
  it.each([
    { name: 'is read, with a warning', env: { KPS_NAME: 'a' }, want: 'a', warns: ['KPS_NAME'] },
    {
      name: 'is read if the current one is empty',
      env: { SP_NAME: '', KPS_NAME: 'a' },
      want: 'a',
      warns: ['KPS_NAME'],
    },
    { name: 'loses against a newer one', env: { OLD_NAME: 'b', KPS_NAME: 'a' }, want: 'a', warns: ['KPS_NAME'] },
    {
      name: 'loses against the current one, without a warning',
      env: { SP_NAME: 'new', KPS_NAME: 'a' },
      want: 'new',
      warns: [],
    },
  ])('$name', async ({ env, want, warns }) => {
    const { config, warnings } = await run([], env);
    expect(config.name).toBe(want);
    expect(warnings).toEqual(warns.map((name) => `${name} is an older spelling: use SP_NAME`));
  });

  it('loses against the flag, without a warning', async () => {
    expect(await run(['-name=new'], { KPS_NAME: 'a' })).toMatchObject({ config: { name: 'new' }, warnings: [] });
  });
});

describe('an option of older releases', () => {
  const older: OptionTable<Config> = { ...table, name: { ...table.name, olderFlags: ['old-name'] } };
  const retired = { names: ['label-selector', 'KPS_LABEL_SELECTOR'], says: 'it is of v0.1.0: label Pods instead' };
  const resolveOlder = (argv: string[], env: Record<string, string> = {}) =>
    resolveOptions(older, { program: { ...program, retired: [retired] }, argv, env });

  it('is read under its older flag, with a warning', async () => {
    expect(await resolveOlder(['-old-name', 'a'])).toMatchObject({
      kind: 'run',
      config: { name: 'a' },
      warnings: ['-old-name is an older spelling: use -name'],
    });
    expect(await resolveOlder(['-old-name=a', '-name=b'], { SP_NAME: 'c' })).toMatchObject({
      config: { name: 'b' },
      warnings: [],
    });
  });

  it('that is retired is an error as a flag, and a warning as a variable', async () => {
    const refused = await resolveOlder(['-name=a', '-label-selector', 'x=y']);
    expect(refused).toMatchObject({
      kind: 'exit',
      code: 2,
      stderr: expect.stringContaining(
        'semaphore-test: -label-selector is not supported any more: it is of v0.1.0: label Pods instead\n',
      ),
    });
    const run = await resolveOlder(['-name=a'], { KPS_LABEL_SELECTOR: 'x=y' });
    expect(run).toMatchObject({
      kind: 'run',
      warnings: ['KPS_LABEL_SELECTOR is not supported any more: it is of v0.1.0: label Pods instead'],
    });
  });
});

describe('a variable', () => {
  const superseded = { by: 'name', keys: ['limit', 'sync', 'token'] } as const;

  it('is ignored beside what supersedes it, even if its value is bad, with a warning', async () => {
    const { config, given, warnings } = await run(
      [],
      { SP_NAME: 'a', SP_LIMIT: 'x', SP_TOKEN: 's3cret' },
      { superseded },
    );
    expect(config).toMatchObject({ limit: 5, token: undefined });
    expect([...given]).toEqual(['name']);
    expect(warnings).toEqual([
      'SP_LIMIT is ignored: -name or SP_NAME overrides it',
      'SP_TOKEN is ignored: -name or SP_NAME overrides it',
    ]);
  });

  it('is read if nothing supersedes it, and a flag always', async () => {
    const named = { ...table, name: { ...table.name, required: undefined, fallback: 'none' } };
    const alone = await resolveOptions(named, { program, argv: [], env: { SP_LIMIT: '2' }, superseded });
    expect(alone).toMatchObject({ config: { limit: 2 }, warnings: [] });
    expect(await run(['-name=a', '-limit=2'], {}, { superseded })).toMatchObject({
      config: { limit: 2 },
      warnings: [],
    });
  });

  it.each([
    { name: 'misspelled', env: { SP_LIMTI: '7' }, want: ['unknown variable SP_LIMTI, did you mean SP_LIMIT?'] },
    { name: 'that means nothing', env: { SP_SOMETHING_ELSE: '7' }, want: ['unknown variable SP_SOMETHING_ELSE'] },
    {
      name: 'of an older prefix',
      env: { KPS_NAMES: 'x', OLD_NAM: 'x' },
      want: ['unknown variable KPS_NAMES, did you mean KPS_NAME?', 'unknown variable OLD_NAM, did you mean OLD_NAME?'],
    },
    { name: 'that is empty', env: { SP_LIMTI: '' }, want: [] },
    { name: 'of another program', env: { SPX_LIMIT: '7', PATH: '/bin' }, want: [] },
    {
      name: 'that kubelet sets for a Service',
      env: {
        SP_SERVICE_HOST: '10.0.0.1',
        SP_SERVICE_PORT: '80',
        SP_API_SERVICE_PORT_HTTP: '80',
        SP_PORT: 'tcp://10.0.0.1:80',
        SP_PORT_80_TCP: 'x',
        SP_PORT_80_TCP_ADDR: 'x',
      },
      want: [],
    },
  ])('$name causes a warning if it may be meant for us', async ({ env, want }) => {
    const { warnings } = await run(['-name=a'], env);
    expect(warnings.toSorted()).toEqual(want);
    expect(warnings.join()).not.toContain('7');
  });
});

describe('a refusal', () => {
  it.each([
    { name: 'names a missing option', argv: [], env: {}, want: '-name or SP_NAME is required' },
    { name: 'names a missing option that is empty', argv: ['-name='], env: {}, want: '-name or SP_NAME is required' },
    {
      name: 'names a bad flag',
      argv: ['-name=a', '-limit=x'],
      env: {},
      want: '-limit (SP_LIMIT): "x" is not a whole number from 1 to 9',
    },
    {
      name: 'names a bad variable',
      argv: ['-name=a'],
      env: { SP_SYNC: 'yes' },
      want: 'SP_SYNC (-sync): "yes" is neither true nor false',
    },
    {
      name: 'does not repeat a secret',
      argv: ['-name=a'],
      env: { SP_TOKEN: 's3cret' },
      want: 'SP_TOKEN: the value is not valid',
    },
    {
      name: 'rejects a flag for an option that is a variable only',
      argv: ['-name=a', '-token=x'],
      env: {},
      want: 'unknown flag -token',
    },
    { name: 'rejects a flag without a name', argv: ['-name=a', '--=x'], env: {}, want: 'unexpected word "--=x"' },
  ])('$name', async ({ argv, env, want }) => {
    const stderr = `semaphore-test: ${want}\nRun "semaphore-test -help" for all flags.\n`;
    expect(await resolve(argv, env)).toEqual({ kind: 'exit', code: 2, stderr });
  });

  it('lists every problem: of the command line, of the values, of the rules across options', async () => {
    const validate = (given: Given<Config>, config: Partial<Config>) => [
      `${given.size} given, ${Object.keys(config).length} valid`,
    ];
    const resolution = await resolve(['-x', '-limit=0'], { SP_SYNC: '2' }, { validate });
    expect(resolution.kind === 'exit' && resolution.stderr?.split('\n')).toEqual([
      'semaphore-test: unknown flag -x',
      'semaphore-test: -name or SP_NAME is required',
      'semaphore-test: -limit (SP_LIMIT): "0" is not a whole number from 1 to 9',
      'semaphore-test: SP_SYNC (-sync): "2" is neither true nor false',
      'semaphore-test: 2 given, 3 valid',
      'Run "semaphore-test -help" for all flags.',
      '',
    ]);
  });
});

describe('-help or -version', () => {
  it.each([
    { name: 'prints the version', commit: undefined, want: 'semaphore-test 1.2.3\n' },
    { name: 'prints the commit', commit: 'abc123', want: 'semaphore-test 1.2.3 (commit abc123)\n' },
  ])('$name', async ({ commit, want }) => {
    const resolution = await resolve(['--version'], {}, { program: { ...program, commit } });
    expect(resolution).toEqual({ kind: 'exit', code: 0, stdout: want });
  });

  it('prints help, whatever else is wrong', async () => {
    const resolution = await resolve(['-bogus', '-h'], { SP_LIMIT: 'x' });
    expect(resolution).toMatchObject({ kind: 'exit', code: 0, stdout: expect.stringContaining('-resync-period') });
  });
});

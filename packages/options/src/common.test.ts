import { describe, expect, it } from 'vitest';
import { commonOptions } from './common.ts';
import { resolveOptions } from './resolve.ts';
import type { OptionTable } from './table.ts';
import { integer, text } from './types.ts';

const program = { name: 'semaphore-test', version: '1.2.3', description: 'Tests.' };

describe('commonOptions', () => {
  it('has the defaults that are promised', async () => {
    const table = commonOptions({ prefix: 'SWG', port: 7773 });
    expect(await resolveOptions(table, { program, argv: [], env: {} })).toMatchObject({
      config: {
        listenAddress: { host: '', port: 7773 },
        logLevel: 'info',
        logFormat: 'auto',
        minWriteIntervalMs: 200,
        writeConcurrency: 16,
        watchIdleTimeoutMs: 90_000,
        maxRemoteObjects: 200_000,
        maxRemoteMib: undefined,
      },
    });
  });

  it('reads the level from the variable of the Go programs', async () => {
    const table = commonOptions({ prefix: 'SP', older: 'KPS' });
    const resolution = await resolveOptions(table, { program, argv: [], env: { KPS_LOG_LEVEL: 'debug' } });
    expect(resolution).toMatchObject({ config: { logLevel: 'debug' } });
  });

  it.each([
    { raw: 'INFO', want: 'info' },
    { raw: ' Debug ', want: 'debug' },
    { raw: 'OFF', want: 'off' },
  ])('reads the level $raw in any case, as Go does', async ({ raw, want }) => {
    const resolution = await resolveOptions(commonOptions({ prefix: 'SP' }), {
      program,
      argv: [],
      env: { SP_LOG_LEVEL: raw },
    });
    expect(resolution).toMatchObject({ kind: 'run', config: { logLevel: want }, warnings: [] });
  });

  it('takes info for a level that is unknown, as Go does, and says so', async () => {
    const resolution = await resolveOptions(commonOptions({ prefix: 'SP' }), {
      program,
      argv: ['-log-level=warning'],
      env: {},
    });
    const warnings = [
      '-log-level (SP_LOG_LEVEL): "warning" is none of trace, debug, info, warn, error, off, so info is used',
    ];
    expect(resolution).toMatchObject({ kind: 'run', config: { logLevel: 'info' }, warnings });
  });
});

describe('an OptionTable', () => {
  const row = { flag: 'name', env: 'SP_NAME', group: 'All', help: '.' };

  it('is checked by the compiler', () => {
    // @ts-expect-error a key of the config lacks its row
    const missing: OptionTable<{ name: string; other: string }> = { name: { ...row, type: text('x'), required: true } };
    // @ts-expect-error the key can't be undefined, so it needs a fallback or `required`
    const unset: OptionTable<{ name: string }> = { name: { ...row, type: text('x') } };
    // @ts-expect-error a number is no string
    const wrong: OptionTable<{ name: string }> = { name: { ...row, type: integer({ min: 0, max: 1 }), fallback: 0 } };
    // @ts-expect-error the key has a value already when it isn't given
    const both: OptionTable<{ name: string | undefined }> = { name: { ...row, type: text('x'), required: true } };
    expect([missing, unset, wrong, both]).toHaveLength(4);
  });
});

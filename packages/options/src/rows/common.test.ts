import { describe, expect, it } from 'vitest';
import { commonRows } from './common.ts';
import { resolveOptions } from '../resolve.ts';
import { optionTable, type OptionTable } from '../table.ts';
import { integer, text } from '../types.ts';

const program = { name: 'semaphore-test', version: '1.2.3', description: 'Tests.' };

const rows = commonRows({ printing: ['plan'], local: 'the local sets', port: 7773 });
const table = optionTable({ prefix: 'SP', older: { prefix: 'KPS', keys: ['logLevel'] } }, rows);

describe('commonRows', () => {
  it('have the documented defaults', async () => {
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
    const resolution = await resolveOptions(table, { program, argv: [], env: { KPS_LOG_LEVEL: 'debug' } });
    expect(resolution).toMatchObject({ config: { logLevel: 'debug' } });
  });

  it.each([
    { raw: 'INFO', want: 'info' },
    { raw: ' Debug ', want: 'debug' },
    { raw: 'OFF', want: 'off' },
  ])('reads the level $raw in any case, as Go does', async ({ raw, want }) => {
    const resolution = await resolveOptions(table, {
      program,
      argv: [],
      env: { SP_LOG_LEVEL: raw },
    });
    expect(resolution).toMatchObject({ kind: 'run', config: { logLevel: want }, warnings: [] });
  });

  it('uses info for an unknown level, as Go does, and warns', async () => {
    const resolution = await resolveOptions(table, {
      program,
      argv: ['-log-level=warning'],
      env: {},
    });
    const warnings = [
      '-log-level (SP_LOG_LEVEL): "warning" is not one of trace, debug, info, warn, error, off, so info is used',
    ];
    expect(resolution).toMatchObject({ kind: 'run', config: { logLevel: 'info' }, warnings });
  });
});

describe('optionTable', () => {
  it('names variables by the prefix, and the older ones that a program inherits', () => {
    const all = { group: 'All', type: text('name'), help: '.' };
    const rows = { a: { ...all, flag: 'a-b' }, c: { ...all, flag: 'c', variable: 'LONG_C', aliases: ['OLD_C'] } };
    const names = optionTable<Record<'a' | 'c', string | undefined>>(
      { prefix: 'SP', older: { prefix: 'KPS', keys: ['c'] } },
      rows,
    );
    expect(names).toMatchObject({
      a: { flag: 'a-b', env: 'SP_A_B', aliases: [] },
      c: { flag: 'c', env: 'SP_LONG_C', aliases: ['OLD_C', 'KPS_LONG_C'] },
    });
  });
});

describe('an OptionTable', () => {
  const row = { flag: 'name', env: 'SP_NAME', group: 'All', help: '.' };

  it('is checked by the compiler', () => {
    // @ts-expect-error a key of the config lacks its row
    const missing: OptionTable<{ name: string; other: string }> = { name: { ...row, type: text('x'), required: true } };
    // @ts-expect-error the key can't be undefined, so it needs a fallback or `required`
    const unset: OptionTable<{ name: string }> = { name: { ...row, type: text('x') } };
    // @ts-expect-error a number is not a string
    const wrong: OptionTable<{ name: string }> = { name: { ...row, type: integer({ min: 0, max: 1 }), fallback: 0 } };
    // @ts-expect-error a required key can't be undefined
    const both: OptionTable<{ name: string | undefined }> = { name: { ...row, type: text('x'), required: true } };
    expect([missing, unset, wrong, both]).toHaveLength(4);
  });
});

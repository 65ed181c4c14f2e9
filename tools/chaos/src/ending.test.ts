import { expect, it } from 'vitest';
import { wireguard } from './subjects/wireguard.ts';
import { type Ended, endingOf } from './ending.ts';

const line = (level: string, msg: string, error: object = {}): string =>
  JSON.stringify({ level, time: '2026-01-01T00:00:00Z', error, msg });
const failed = line('error', 'stopped by an error', { type: 'WireGuardToolsError', message: 'wg', code: 'WG_FAILED' });
const bug = line('error', 'stopped by an error', { type: 'TypeError', message: 'x is undefined', stack: 'TypeError' });
const uncaught = line('error', 'uncaught error', { type: 'TypeError', message: 'x is undefined', stack: 'TypeError' });
const late = line('error', 'shutdown timed out');
const unreadable = "semaphore-wireguard: the devices of this node can't be read: wg show: it is broken";

const excuse = wireguard.endsBy!.says;
const ofItself = { code: 1, signal: null, stderr: '', starved: false, excuse: undefined };
const broken = { ...ofItself, excuse };
const killed = { ...ofItself, code: null, signal: 'SIGKILL' } as const;

it.each<{ readonly name: string; readonly of: Ended; readonly why: string; readonly errors?: string[] }>([
  { name: 'a killed one', of: killed, why: 'killed' },
  { name: 'what a killed one logged', of: { ...killed, stderr: `${uncaught}\n` }, why: 'killed', errors: [uncaught] },
  { name: 'a tool that fails', of: { ...broken, stderr: `${failed}\n` }, why: 'lacked what it needs' },
  { name: 'devices that are unreadable', of: { ...broken, stderr: `${unreadable}\n` }, why: 'lacked what it needs' },
  { name: 'one that is killed as it ends', of: { ...killed, excuse, stderr: `${failed}\n` }, why: 'killed' },
  { name: 'the same when nothing broke', of: { ...ofItself, stderr: failed }, why: 'by itself', errors: [failed] },
  { name: 'a bug', of: { ...broken, stderr: bug }, why: 'by itself', errors: [bug] },
  { name: 'an uncaught error', of: { ...broken, stderr: uncaught }, why: 'by itself', errors: [uncaught] },
  {
    name: 'an uncaught error beside an excuse',
    of: { ...broken, stderr: `${failed}\n${uncaught}\n` },
    why: 'by itself',
    errors: [uncaught],
  },
  { name: 'a hanging end', of: { ...broken, stderr: late }, why: 'by itself', errors: [late] },
  { name: 'an end without a word', of: broken, why: 'by itself' },
  { name: 'another code', of: { ...broken, code: 2, stderr: unreadable }, why: 'by itself' },
  { name: 'too small a heap', of: { ...ofItself, code: null, signal: 'SIGABRT', starved: true }, why: 'lacked memory' },
  {
    name: 'a crash with a heap that is large enough',
    of: { ...ofItself, code: null, signal: 'SIGABRT' },
    why: 'by itself',
  },
  { name: 'what a starved one logged', of: { ...killed, starved: true, stderr: uncaught }, why: 'killed' },
])('tells $name', ({ of, why, errors = [] }) => {
  expect(endingOf(of)).toEqual({ why, errors });
});

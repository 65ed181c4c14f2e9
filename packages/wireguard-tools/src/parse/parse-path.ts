import { bad, good, type Parsed } from '@kube-semaphore/net';
import { type Entry, parseEntries } from './json.ts';

/** A route as `ip route get` shows it. `mtuBytes`: undefined: that of the device. */
type Path = { readonly device: string; readonly mtuBytes: number | undefined };

/** Reads `ip -json route get`. */
export const parsePath = (text: string): Parsed<Path> => only(parseEntries(text, pathOf));

/** Reads the MTU of the one link in `ip -json link show`. */
export const parseMtu = (text: string): Parsed<number> =>
  only(parseEntries(text, ({ mtu }) => (isMtu(mtu) ? good(mtu) : bad('mtu is missing or invalid'))));

function pathOf({ dev: device, metrics = [] }: Entry): Parsed<Path> {
  if (typeof device !== 'string') return bad('dev is missing or invalid');
  if (!Array.isArray(metrics)) return bad('metrics is invalid');
  const mtuBytes = (metrics as readonly { readonly mtu?: unknown }[]).map(({ mtu }) => mtu).find(isMtu);
  return good({ device, mtuBytes });
}

const isMtu = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0;

function only<T>(entries: Parsed<readonly T[]>): Parsed<T> {
  if (!entries.ok) return entries;
  const [entry] = entries.value;
  return entry === undefined ? bad('it is empty') : good(entry);
}

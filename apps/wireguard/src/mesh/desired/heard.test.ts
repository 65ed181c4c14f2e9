import { expect, it } from 'vitest';
import { key, observedDevice, observedPeer } from '../../../test/support/builders.ts';
import { Heard } from './heard.ts';

const device = (receivedBytes: number) => observedDevice([observedPeer(key(1), { receivedBytes })]);

it('hears a peer when its bytes grow, or begin anew', () => {
  const heard = new Heard();
  const at = (nowMs: number, receivedBytes: number) => {
    heard.update([device(receivedBytes)], nowMs);
    return heard.last('wireguard.c2', key(1))?.atMs;
  };
  expect([at(1, 0), at(2, 0), at(3, 9), at(4, 9), at(5, 1)]).toEqual([1, 1, 3, 3, 5]);
});

it('knows nothing of a peer that it does not see', () => {
  const heard = new Heard();
  heard.update([device(1)], 1);
  expect(heard.last('wireguard.c2.1', key(1))).toBeUndefined();
  heard.update([], 2);
  expect(heard.last('wireguard.c2', key(1))).toBeUndefined();
});

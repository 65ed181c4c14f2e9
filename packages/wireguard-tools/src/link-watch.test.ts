import { describe, expect, it } from 'vitest';
import { linkOf } from './link-watch.ts';

describe('linkOf', () => {
  it.each([
    {
      name: 'a link that changed',
      line: '7: wireguard.c2: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1420 qdisc noqueue state UNKNOWN group default ',
      want: 'wireguard.c2',
    },
    {
      name: 'a link that was removed',
      line: 'Deleted 7: wireguard.c2: <POINTOPOINT,NOARP> mtu 1420 qdisc noop state DOWN group default ',
      want: 'wireguard.c2',
    },
    {
      name: 'a link with a peer',
      line: '12: pod1@if2: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN group default ',
      want: 'pod1',
    },
    {
      name: 'a link with an @ in its name',
      line: '12: a@b@NONE: <BROADCAST> mtu 1500 qdisc noop state DOWN group default ',
      want: 'a@b',
    },
    { name: 'another event', line: '10.4.0.0/16 dev wireguard.c2 proto 115 scope link ', want: undefined },
    { name: 'the rest of an event', line: '    link/none ', want: undefined },
  ])('finds the name of $name', ({ line, want }) => {
    expect(linkOf(line)).toBe(want);
  });
});

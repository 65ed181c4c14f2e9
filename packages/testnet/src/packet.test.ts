import { describe, expect, it } from 'vitest';
import { packetIn, wireGuardMessage } from './packet.ts';
import { readPcap } from './pcap.ts';

const ethernet = (type: string): string => `ffffffffffff020000000001${type}`;
const udp = (payload: string): string =>
  `ca6cca6c${(8 + payload.length / 2).toString(16).padStart(4, '0')}0000${payload}`;

function ipv4(protocol: number, payload: string): Buffer {
  const length = (20 + payload.length / 2).toString(16).padStart(4, '0');
  return Buffer.from(
    `${ethernet('0800')}4500${length}0000000040${protocol.toString(16).padStart(2, '0')}0000ac1f0001ac1f0002${payload}`,
    'hex',
  );
}

function ipv6(next: number, payload: string): Buffer {
  const length = (payload.length / 2).toString(16).padStart(4, '0');
  return Buffer.from(
    `${ethernet('86dd')}60000000${length}${next.toString(16).padStart(2, '0')}40${'fd'.repeat(32)}${payload}`,
    'hex',
  );
}

describe('packetIn', () => {
  it.each([
    { name: 'IPv4', frame: ipv4(1, '0800'), want: { family: 4, protocol: 1, payload: Buffer.from('0800', 'hex') } },
    { name: 'IPv6', frame: ipv6(58, '8000'), want: { family: 6, protocol: 58, payload: Buffer.from('8000', 'hex') } },
    {
      name: 'IPv4 with padding',
      frame: Buffer.concat([ipv4(1, '0800'), Buffer.alloc(9)]),
      want: { family: 4, protocol: 1, payload: Buffer.from('0800', 'hex') },
    },
    { name: 'ARP', frame: Buffer.from(ethernet('0806') + '00'.repeat(46), 'hex'), want: undefined },
    { name: 'a stub', frame: Buffer.alloc(20), want: undefined },
  ])('reads $name', ({ frame, want }) => {
    expect(packetIn(frame)).toEqual(want);
  });
});

describe('wireGuardMessage', () => {
  it.each([
    { name: 'an initiation', frame: ipv4(17, udp('01000000')), want: 'initiation' },
    { name: 'data over IPv6', frame: ipv6(17, udp('0400000001020304')), want: 'data' },
    { name: 'no message of type 0', frame: ipv4(17, udp('00000000')), want: undefined },
    { name: 'no message of type 5', frame: ipv4(17, udp('05000000')), want: undefined },
    { name: 'no message with something in the zeros', frame: ipv4(17, udp('04000001')), want: undefined },
    { name: 'nothing in TCP', frame: ipv4(6, udp('04000000')), want: undefined },
    { name: 'nothing in an empty datagram', frame: ipv4(17, udp('')), want: undefined },
  ])('finds $name', ({ frame, want }) => {
    const packet = packetIn(frame);
    expect(packet && wireGuardMessage(packet)).toBe(want);
  });
});

describe('readPcap', () => {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4);
  const record = (bytes: string): Buffer => {
    const head = Buffer.alloc(16);
    head.writeUInt32LE(bytes.length, 8);
    // The frame was longer than its recorded part.
    head.writeUInt32LE(bytes.length + 5, 12);
    return Buffer.concat([head, Buffer.from(bytes)]);
  };

  it('finds all frames, and skips an incomplete record', () => {
    const file = Buffer.concat([header, record('one'), record(''), record('three'), record('four').subarray(0, -1)]);
    expect(readPcap(file).map(String)).toEqual(['one', '', 'three']);
  });

  it.each([
    { name: 'nothing', file: Buffer.alloc(0) },
    { name: 'another file', file: Buffer.from('#!/bin/sh\n'.repeat(9)) },
  ])('throws on $name', ({ file }) => {
    expect(() => readPcap(file)).toThrow('not a capture file');
  });
});

import { expect, it } from 'vitest';
import { stamp } from './seed-etcd.ts';

const template = Buffer.from('\x05pod-0\x07pod-0, \x0a10a0.0.100\xff', 'latin1');
const placeholders = { name: 'pod-0', ip: '10a0.0.100' };

it('replaces each text everywhere, and keeps all other bytes', () => {
  const stamped = stamp(template, placeholders, { name: 'pod-9', ip: '10a0.0.255' });
  expect(stamped.toString('latin1')).toBe('\x05pod-9\x07pod-9, \x0a10a0.0.255\xff');
});

it('refuses a text of another length', () => {
  expect(() => stamp(template, placeholders, { name: 'pod-10', ip: '10a0.0.101' })).toThrow(RangeError);
});

import { expect, it } from 'vitest';
import { Stamp } from './stamp.ts';

const template = Buffer.from('\x05pod-0\x07pod-0, \x0a10.0.0.100');
const placeholders = { name: 'pod-0', ip: '10.0.0.100' };

it('replaces each text everywhere, and keeps the lengths', () => {
  const stamped = new Stamp(template, placeholders).with({ name: 'pod-9', ip: '10.0.0.255' });
  expect(stamped.toString()).toBe('\x05pod-9\x07pod-9, \x0a10.0.0.255');
});

it('starts from the template each time', () => {
  const stamp = new Stamp(template, placeholders);
  stamp.with({ name: 'pod-8', ip: '10.0.0.108' });
  expect(stamp.with({ name: 'pod-0', ip: '10.0.0.100' })).toEqual(template);
  expect(template.toString()).toContain('pod-0');
});

it('refuses a text of another length', () => {
  const stamp = new Stamp(template, placeholders);
  expect(() => stamp.with({ name: 'pod-10', ip: '10.0.0.101' })).toThrow(RangeError);
});

it('refuses a placeholder that isn’t in the template', () => {
  expect(() => new Stamp(template, { app: 'app-0' })).toThrow('the template contains no app app-0');
});

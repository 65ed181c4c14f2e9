import { expect, it } from 'vitest';
import { dataOfConfigMap, dataOfSecret, selectItems } from './volume-files.ts';

const object = (kind: string, more: object) => ({ apiVersion: 'v1', kind, metadata: { name: 'x' }, ...more });
const texts = (files: Readonly<Record<string, Buffer>>) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, content.toString()]));

it.each([
  {
    name: 'reads a ConfigMap',
    files: dataOfConfigMap(object('ConfigMap', { data: { a: '1' }, binaryData: { b: 'Mg==' } })),
    want: { a: '1', b: '2' },
  },
  { name: 'reads an empty one', files: dataOfConfigMap(object('ConfigMap', {})), want: {} },
  {
    name: 'reads a Secret',
    files: dataOfSecret(object('Secret', { data: { token: 'c2VjcmV0' } })),
    want: { token: 'secret' },
  },
])('$name', ({ files, want }) => {
  expect(texts(files)).toEqual(want);
});

const data = { 'ca.crt': Buffer.from('ca'), token: Buffer.from('t') };

it.each([
  { name: 'takes every key by default', items: undefined, want: { 'ca.crt': 'ca', token: 't' } },
  {
    name: 'takes those that are named, under other names',
    items: [{ key: 'token', path: 'c2/token' }],
    want: { 'c2/token': 't' },
  },
])('$name', ({ items, want }) => {
  expect(texts(selectItems(data, items))).toEqual(want);
});

it('refuses a key that is not there', () => {
  expect(() => selectItems(data, [{ key: 'other', path: 'other' }])).toThrow('a volume asks for the key other');
});

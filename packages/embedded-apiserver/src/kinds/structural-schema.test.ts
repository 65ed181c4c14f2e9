import { describe, expect, it } from 'vitest';
import { prune, violations, type Schema } from './structural-schema.ts';

const schema: Schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      properties: {
        nets: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        count: { type: 'integer' },
        ratio: { type: 'number' },
        tags: { type: 'object', additionalProperties: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        mode: { type: 'string', enum: ['On', 'Off'] },
        word: { type: 'string', minLength: 1, maxLength: 3, pattern: '^[a-z]*$' },
        pair: { type: 'array', items: { type: 'string' }, maxItems: 2 },
        named: {
          type: 'array',
          items: { type: 'object', properties: { name: { type: 'string' }, value: { type: 'string' } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        rules: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
      },
    },
  },
};

describe('prune', () => {
  it('drops fields that the schema does not have, at any depth, and keeps open ones', () => {
    const value = {
      spec: { nets: [], more: 1, tags: { a: 'b' }, free: { x: { y: 1 } }, rules: [{ a: '1', b: '2' }] },
      other: {},
    };
    expect(prune(value, schema)).toEqual({
      spec: { nets: [], tags: { a: 'b' }, free: { x: { y: 1 } }, rules: [{ a: '1' }] },
    });
  });
});

describe('violations', () => {
  it.each([
    { value: { spec: { nets: ['a', 'b'], count: 1, ratio: 1, tags: {} } }, want: [] },
    { value: {}, want: ['spec FieldValueRequired'] },
    { value: { spec: { nets: ['a', 'b', 'a'] } }, want: ['spec.nets[2] FieldValueDuplicate'] },
    { value: { spec: { nets: [1] } }, want: ['spec.nets[0] FieldValueTypeInvalid'] },
    { value: { spec: { nets: 'a' } }, want: ['spec.nets FieldValueTypeInvalid'] },
    { value: { spec: { count: 1.5, ratio: 1.5 } }, want: ['spec.count FieldValueTypeInvalid'] },
    { value: { spec: { tags: { a: 1 } } }, want: ['spec.tags.a FieldValueTypeInvalid'] },
    { value: { spec: { mode: 'On', word: 'abc', pair: ['a', 'a'], named: [{ name: 'a' }, { name: 'b' }] } }, want: [] },
    { value: { spec: { mode: 'on' } }, want: ['spec.mode FieldValueNotSupported'] },
    { value: { spec: { word: '' } }, want: ['spec.word FieldValueInvalid'] },
    { value: { spec: { word: 'abcd' } }, want: ['spec.word FieldValueTooLong'] },
    { value: { spec: { word: 'A' } }, want: ['spec.word FieldValueInvalid'] },
    { value: { spec: { pair: ['a', 'b', 'c'] } }, want: ['spec.pair FieldValueTooMany'] },
    {
      value: {
        spec: {
          named: [
            { name: 'a', value: '1' },
            { name: 'a', value: '2' },
          ],
        },
      },
      want: ['spec.named[1] FieldValueDuplicate'],
    },
    { value: { spec: null }, want: ['spec FieldValueTypeInvalid'] },
  ])('of $value: $want', ({ value, want }) => {
    expect([...violations(value, schema)].map(({ field, reason }) => `${field} ${reason}`)).toEqual(want);
  });
});

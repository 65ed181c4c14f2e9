import { describe, expect, it } from 'vitest';
import { goDocument } from './go-document.ts';

const keys = ['remoteClusters', 'remoteAPIURL', 'zones'];

describe('goDocument', () => {
  it.each([
    {
      name: 'reads keys in any case',
      document: { RemoteClusters: [{ remoteApiUrl: 'https://c2' }] },
      want: { remoteClusters: [{ remoteAPIURL: 'https://c2' }] },
    },
    { name: 'takes the last of two spellings', document: { zones: ['a'], Zones: ['b'] }, want: { zones: ['b'] } },
    {
      name: 'ignores null',
      document: { zones: null, remoteClusters: [{ zones: null }] },
      want: { remoteClusters: [{}] },
    },
    { name: 'leaves unknown keys as they are', document: { Zone: 'a' }, want: { Zone: 'a' } },
    { name: 'leaves values as they are', document: { zones: ['ZONES', 7, true] }, want: { zones: ['ZONES', 7, true] } },
    { name: 'is null without a document', document: null, want: null },
  ])('$name', ({ document, want }) => {
    expect(goDocument(document, keys)).toEqual(want);
  });
});

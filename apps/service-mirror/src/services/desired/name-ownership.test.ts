import { describe, expect, it } from 'vitest';
import { type NameInput, nameOwnership } from './name-ownership.ts';
import type { ObservedService } from '../../endpoints/desired/observed.ts';
import type { Target } from '../../endpoints/desired/target.ts';

const name = 'c2-a-b-73736d-web';
const mine = 'c2/a-b/web';
const other = 'c2-a/b/web';

const service = (labels: Readonly<Record<string, string>>): ObservedService => ({
  name,
  uid: 'u',
  resourceVersion: '1',
  createdAt: 0,
  labels,
  annotations: {},
  familyPolicy: 'SingleStack',
  isPlain: true,
  isTerminating: false,
  ownerReferences: [],
  finalizers: [],
  definition: {
    headless: false,
    families: ['IPv4'],
    ports: [],
    affinitySeconds: undefined,
    publishNotReadyAddresses: false,
  },
});
const ours = service({ ours: 'true' });
const theirs = service({});

type Case = Partial<Omit<NameInput, 'target'>> & { readonly name?: string };

const something: Target['wanted'] = {
  service: { name, labels: {}, annotations: {}, definition: ours.definition },
  slices: [],
};

const inputOf = ({ name: of = name, ...input }: Case, wanted: Target['wanted']): NameInput => ({
  key: mine,
  claimants: [],
  observed: undefined,
  sources: [],
  isUnknown: () => false,
  ...input,
  target: { name: of, isOurs: (labels) => labels['ours'] === 'true', wanted },
});

describe('nameOwnership', () => {
  it.each<{ what: string; input: Case }>([
    { what: 'no object has', input: {} },
    { what: 'is its own', input: { observed: ours, sources: [mine], claimants: [mine, other] } },
    {
      what: 'an object of ours has, whose key no longer wants it',
      input: { observed: ours, sources: [other], claimants: [mine] },
    },
    {
      what: 'its own object has, whose cluster is unknown',
      input: { observed: ours, sources: [mine], isUnknown: () => true },
    },
    {
      what: 'it spells in two ways itself',
      input: { observed: ours, sources: [other, mine], isUnknown: (key) => key === other },
    },
  ])('lets a key have a name that $what', ({ input }) => {
    for (const wanted of [something, 'unknown', 'nothing'] as const)
      expect(nameOwnership(inputOf(input, wanted))).toEqual({ ok: true });
  });

  it.each<{ what: string; input: Case; reason: string; detail: string }>([
    {
      what: 'is too long',
      input: { name: 'a'.repeat(65) },
      reason: 'name-too-long',
      detail: `${'a'.repeat(65)} is 2 characters too long for a Service`,
    },
    {
      what: 'is too long by one',
      input: { name: 'a'.repeat(64) },
      reason: 'name-too-long',
      detail: `${'a'.repeat(64)} is 1 character too long for a Service`,
    },
    { what: 'is illegal', input: { name: '2c-x' }, reason: 'name-illegal', detail: '2c-x is not a valid Service name' },
    {
      what: 'an older source has',
      input: { claimants: [other, mine] },
      reason: 'name-taken',
      detail: `the name ${name} belongs to ${other}, which is older`,
    },
    {
      what: 'a foreign Service has',
      input: { observed: theirs },
      reason: 'name-taken',
      detail: `the Service ${name} exists, and isn't ours`,
    },
    {
      what: 'an object of ours has, whose cluster is unknown',
      input: { observed: ours, sources: [other], claimants: [mine], isUnknown: (key) => key === other },
      reason: 'name-taken',
      detail: `the name ${name} belongs to ${other}, whose cluster is unknown`,
    },
  ])('denies a name that $what, with a diagnostic only if the key wants something', ({ input, reason, detail }) => {
    expect(nameOwnership(inputOf(input, something))).toEqual({
      ok: false,
      diagnostics: [{ cluster: 'c2', kind: 'problem', reason, detail }],
    });
    // The source may turn out not to exist.
    for (const wanted of ['unknown', 'nothing'] as const)
      expect(nameOwnership(inputOf(input, wanted))).toEqual({ ok: false, diagnostics: [] });
  });
});

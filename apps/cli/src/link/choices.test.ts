import { describe, expect, it } from 'vitest';
import type { GivenAnswers } from './answers.ts';
import { type Choices, choicesIn, choicesOf, choicesText, flagsOf, writtenIn } from './choices.ts';

const folder = 'mesh/c1';
const noAnswers: GivenAnswers = { name: undefined };

/** A cluster that was linked with these choices. */
const linked = (choices: Choices) => ({
  files: new Map([
    ['service-mirror.json', '{}'],
    ['link.json', choicesText(choices, folder, {})],
  ]),
  folder,
  answers: noAnswers,
});
const fresh = { files: new Map<string, string>(), folder: 'mesh/c9', answers: noAnswers };

describe('the choices of clusters', () => {
  it.each<{ name: string; clusters: readonly ReturnType<typeof linked>[]; given?: Choices; want: readonly Choices[] }>([
    {
      name: 'stay, each its own',
      clusters: [linked({ userspace: true, coredns: false }), linked({ registry: 'r', boundTokens: 3_600_000 })],
      want: [
        { userspace: true, coredns: false },
        { registry: 'r', boundTokens: 3_600_000 },
      ],
    },
    {
      name: 'of a new cluster are those of the others, of the first one if they differ',
      clusters: [fresh, linked({ userspace: true, registry: 'a' }), linked({ registry: 'b' })],
      want: [{ userspace: true, registry: 'a' }, { userspace: true, registry: 'a' }, { registry: 'b' }],
    },
    {
      name: 'have answers of one cluster only, until another answer or none',
      clusters: [
        { ...linked({ answers: { server: 'https://a', ipam: 'podCIDRs' } }), answers: { name: 'c1', ipam: false } },
        { ...linked({ answers: { podCidrs: ['10.2.0.0/16'] } }), answers: { name: 'c2', podCidrs: ['10.4.0.0/16'] } },
        { ...linked({ answers: { server: 'https://c' } }), answers: { name: 'c3', server: false } },
        fresh,
      ],
      want: [
        { answers: { server: 'https://a', ipam: false } },
        { answers: { podCidrs: ['10.4.0.0/16'] } },
        { answers: { server: false } },
        {},
      ],
    },
    {
      name: 'follow the flags',
      clusters: [linked({ userspace: true, registry: 'a' }), fresh],
      given: { userspace: false, registry: undefined },
      want: [
        { userspace: false, registry: 'a' },
        { userspace: false, registry: 'a' },
      ],
    },
    {
      name: 'let NetworkPolicies name a cluster from both sides',
      clusters: [linked({}), linked({ networkPolicies: true })],
      want: [{ networkPolicies: true }, { networkPolicies: true }],
    },
    {
      name: 'let ranges of Services be equal, also those of a new cluster',
      clusters: [linked({ sharedServiceCidrs: true }), linked({}), fresh],
      want: [{ sharedServiceCidrs: true }, { sharedServiceCidrs: true }, { sharedServiceCidrs: true }],
    },
    {
      name: 'have copies of the manifests again',
      clusters: [linked({ deploy: 'vendor/deploy' })],
      given: { deploy: false },
      want: [{ deploy: false }],
    },
    {
      name: 'have no tunnels while no cluster has any',
      clusters: [linked({ wireguard: false }), fresh],
      want: [{ wireguard: false }, { wireguard: false }],
    },
    {
      name: 'have tunnels if one cluster has any',
      clusters: [linked({ wireguard: false }), linked({}), fresh],
      want: [{ wireguard: true }, { wireguard: true }, { wireguard: true }],
    },
    {
      name: 'have the manifests where they are, seen from elsewhere',
      clusters: [linked({ deploy: 'vendor/deploy' }), fresh],
      want: [{ deploy: 'vendor/deploy' }, { deploy: 'vendor/deploy' }],
    },
    {
      name: 'have the URL of the manifests',
      clusters: [linked({ deploy: 'https://example.com/deploy?ref=v1' })],
      want: [{ deploy: 'https://example.com/deploy?ref=v1' }],
    },
  ])('$name', ({ clusters, given = {}, want }) => {
    expect(choicesOf(clusters, given)).toEqual(want);
  });

  it('are read as flags, without those that were given now', () => {
    const choices = { wireguard: false, networkPolicies: true, registry: 'r', boundTokens: 5_400_000, coredns: true };
    expect(flagsOf(choices, { coredns: true })).toEqual([
      '--no-wireguard',
      '--network-policies',
      '--registry=r',
      '--bound-tokens=90m',
    ]);
  });

  it('name a folder of manifests from the folder of the overlay', () => {
    expect(JSON.parse(choicesText({ deploy: 'vendor/deploy' }, folder, {}))).toEqual({
      deploy: '../../vendor/deploy',
    });
  });

  it('do not include what was written, which stays in the file', () => {
    const written = { localCIDRs: ['10.2.0.0/16'], endpointCIDRs: { c2: ['172.18.0.0/16'] } };
    const files = new Map([['link.json', choicesText({ mcs: true }, folder, { uid: 'u1', written })]]);
    expect([choicesIn(files), writtenIn(files)]).toEqual([{ mcs: true }, written]);
    const [own, other] = choicesOf([{ ...linked({}), files: new Map([...linked({}).files, ...files]) }, fresh], {});
    expect([own, other]).toEqual([{ mcs: true }, { mcs: true }]);
  });
});

import { describe, expect, it } from 'vitest';
import { docPage } from '../doc-blocks.ts';
import { deployedRights, rulesOf } from './manifests.ts';
import { rightsIn } from './used.ts';

const deployed = [
  [
    'policy/base',
    'policy/components/network-policies',
    'policy/components/network-policies-cilium',
    'policy/components/network-policies-calico',
    'policy/components/network-policies-calico-api',
    'policy/components/inventory',
  ],
  ['policy/remote', 'policy/components/remote-namespaces'],
  [
    'service-mirror/base',
    'service-mirror/components/global',
    'service-mirror/components/gate-by-tunnel',
    'service-mirror/components/mcs',
    'service-mirror/components/inventory',
  ],
  ['service-mirror/remote', 'service-mirror/components/remote-mcs'],
  ['wireguard/base', 'wireguard/components/inventory'],
  ['wireguard/remote', 'wireguard/components/calico-blocks'],
].map((folders) => deployedRights(...folders));

/** A row of a table with four columns: the account, empty if as above, resources with or without a namespace, verbs. */
const ROW = /^\| (?:`(\S+)` )?\| (`.+?`)(?: in (\S+))? \| (.+?) \| .+ \|$/gm;

describe('the rights of deploy/', () => {
  it.each(deployed)('belong to $account.name alone', ({ account, objects }) => {
    expect(objects.filter(({ kind }) => kind === 'ServiceAccount')).toHaveLength(1);
    expect(account.name).toMatch(/^semaphore-/);
  });

  it.each(deployed)('have no wildcard for $account.name', ({ grants }) => {
    for (const { apiGroups, resources, verbs } of rulesOf({ grants }))
      expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
  });

  it.each([
    {
      name: 'components without an account',
      folders: ['service-mirror/components/global'],
      message: 'must have exactly one service account',
    },
    {
      name: 'two accounts',
      folders: ['policy/base', 'policy/remote'],
      message: 'must have exactly one service account',
    },
    {
      name: 'a role that is bound to another account',
      folders: ['wireguard/base', 'wireguard/components/calico-blocks'],
      message: 'must be bound to semaphore-wireguard alone',
    },
  ])('are refused for $name', ({ folders, message }) => {
    expect(() => deployedRights(...folders)).toThrow(message);
  });
});

describe('the table of docs/security.md', () => {
  it('has exactly the deployed rights', () => {
    let account: string | undefined;
    const rows = Array.from(docPage('security.md').matchAll(ROW), ([, named, resources = '', place, verbs = '']) => ({
      account: (account = named ?? account),
      place,
      resources: resources.replaceAll('`', '').split(', '),
      verbs: verbs.split(', '),
    }));
    const told = rows.flatMap(({ account, place, resources, verbs }) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => `${account}: ${verb} ${resource}${place === undefined ? '' : ` in ${place}`}`),
      ),
    );
    const given = deployed.flatMap(({ account, grants }) =>
      rightsIn(grants).map((right) => `${account.name}: ${right}`),
    );
    expect(told.toSorted()).toEqual(given.toSorted());
  });
});

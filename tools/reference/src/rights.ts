import { deployedRights } from '@kube-semaphore/testkit';
import { documented } from './pages.ts';

/** The components of deploy/ that an app needs besides its base, by the field of `config` in its status that asks for it. */
const components: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  policy: { networkPolicies: 'network-policies' },
  'service-mirror': { globalSelector: 'global', mcs: 'mcs' },
};

/** What the account of each app may do in its own cluster, by deploy/. `semaphore check` asks for each right. */
export function rightsPage(): string {
  const rights = documented.map(({ app }) => {
    const { account, grants } = deployedRights(`${app}/base`);
    const more = Object.entries(components[app] ?? {}).flatMap(([field, component]) => {
      const all = deployedRights(`${app}/base`, `${app}/components/${component}`).grants;
      return all.slice(grants.length).map((grant) => ({ ...grant, with: field }));
    });
    return [`semaphore-${app}`, { account, grants: [...grants, ...more] }] as const;
  });
  return `${JSON.stringify(Object.fromEntries(rights), undefined, 2)}\n`;
}

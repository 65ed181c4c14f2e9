import { deployedRights } from '@kube-semaphore/testkit';
import { documented } from './pages.ts';

/** What the account of each app may do in its own cluster, by the bases of deploy/. `semaphore check` asks for each right. */
export function rightsPage(): string {
  const rights = documented.map(({ app }) => {
    const { account, grants } = deployedRights(`${app}/base`);
    return [`semaphore-${app}`, { account, grants }] as const;
  });
  return `${JSON.stringify(Object.fromEntries(rights), undefined, 2)}\n`;
}

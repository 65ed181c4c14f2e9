import { clusterLabel, labelDomains, managedByLabel, nameLabel, namespaceLabel } from '../../src/names.ts';

/** The labels of the set of an app of the namespace `shop` of c2, as semaphore-policy writes them. */
export function setLabels(app: string): Readonly<Record<string, string>> {
  const [, domain] = labelDomains;
  return {
    [managedByLabel]: 'semaphore-policy',
    [nameLabel(domain)]: app,
    [namespaceLabel(domain)]: 'shop',
    [clusterLabel(domain)]: 'c2',
  };
}

import { jsonPage, yamlPage } from '@kube-semaphore/text';

/** What a command found, for programs. */
export const pages = { json: jsonPage, yaml: yamlPage };

/** How a command prints what it found. */
export const formats = ['text', ...(Object.keys(pages) as (keyof typeof pages)[])] as const;

export type Format = (typeof formats)[number];

/** What a command prints. @param text for people */
export const pageIn = (format: Format, page: object, text: () => string): string =>
  format === 'text' ? text() : pages[format](page);

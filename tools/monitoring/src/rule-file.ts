import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';

/** The folder of rules and dashboards. */
export const monitoring = fileURLToPath(new URL('../../../monitoring/', import.meta.url));

const alertRule = z.strictObject({
  alert: z.string().regex(/^Semaphore[A-Z][A-Za-z]+$/),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning']), app: z.string() }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook: z.string() }),
});

const ruleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(alertRule) })).length(1),
});

/** The checked fields of a promtool test. */
const testFile = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      alert_rule_test: z.array(
        z.object({ eval_time: z.string(), alertname: z.string(), exp_alerts: z.array(z.unknown()).default([]) }),
      ),
    }),
  ),
});

export type AlertRule = z.infer<typeof alertRule>;

/** The alerts of an app, with their promtool tests. */
export type AppAlerts = {
  readonly app: string;
  readonly rules: readonly AlertRule[];
  readonly tests: z.infer<typeof testFile>['tests'];
};

/** @throws {z.ZodError} if a file doesn't have the common form */
export function readAlerts(): readonly AppAlerts[] {
  return readdirSync(join(monitoring, 'rules')).map((file) => {
    const read = (folder: string): unknown => parse(readFileSync(join(monitoring, folder, file), 'utf8'));
    const [group] = ruleFile.parse(read('rules')).groups;
    return { app: group!.name, rules: group!.rules, tests: testFile.parse(read('tests')).tests };
  });
}

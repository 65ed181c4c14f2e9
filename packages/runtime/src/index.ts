export { type Command, runCommand } from './command.ts';
export { ConfigError } from './config-error.ts';
export type { Health } from './health/health-server.ts';
export { wordsOf } from './log/error-message.ts';
export { limitedLog } from './log/limited-log.ts';
export { createLogger, type Logger } from './log/logger.ts';
export { metricsReference, type MetricSpec, type MetricTable } from './metrics/metric-table.ts';
export {
  beforeScrape,
  createMetrics,
  type Instruments,
  sampleLine,
  type Samples,
  type Series,
} from './metrics/metrics.ts';
export { addProcessMetrics } from './metrics/process-metrics.ts';
export { leaderMetrics, podAddressMetrics, sharedMetrics } from './metrics/shared-metrics.ts';
export { shared } from './shared.ts';
export { type ConfigSource, serve, type ServeInput } from './serve.ts';

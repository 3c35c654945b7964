/**
 * A recovery plugin for Mulligan: {@link run.mulligan.businesshours.BusinessHours} decides, by its
 * {@link run.mulligan.businesshours.Settings}, and {@link run.mulligan.businesshours.Main} serves it.
 */
package run.mulligan.businesshours;

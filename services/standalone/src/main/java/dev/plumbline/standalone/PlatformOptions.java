package dev.plumbline.standalone;

import java.nio.file.Path;

/**
 * Where the platform stands.
 *
 * @param data folder of the broker, the state and the results
 * @param bootstrap an existing Kafka; null: one is embedded
 * @param kafkaPort port of the embedded broker; 0: any free one
 * @param hosts inventory; null: {@code hosts.yaml} in the data folder
 * @param scenario scenario of the simulated lab; null: no lab
 */
record PlatformOptions(Path data, String bootstrap, int kafkaPort, Path hosts, String scenario) {}

/// The computer's load.
package enum SystemLoad {
    /// The number of threads that are running or waiting to run, averaged over the past minute; `nil` if it cannot be
    /// read.
    package static var average: Double? { SmallFile.text("/proc/loadavg", limit: 128).flatMap { average(in: $0) } }

    /// Returns the one-minute load average: the first number in the content of `/proc/loadavg`.
    package static func average(in text: String) -> Double? { text.split(separator: " ").first.flatMap { Double($0) } }
}

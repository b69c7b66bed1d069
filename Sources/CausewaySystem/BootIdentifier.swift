/// Identifies the current boot. A new identifier means that the system has restarted, and file content that was not yet
/// on disk may have been lost.
package enum BootIdentifier {
    /// The kernel's identifier; `nil` if it cannot be read.
    package static let current: String? = SmallFile.text("/proc/sys/kernel/random/boot_id", limit: 64).flatMap { text in
        let identifier = text.prefix { $0 != "\n" }
        return identifier.isEmpty ? nil : String(identifier)
    }
}

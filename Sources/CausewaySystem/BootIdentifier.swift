/// Identifies the time since the system started. A different identifier means that unwritten file content may have been
/// lost.
package enum BootIdentifier {
    /// The kernel's identifier; `nil` if it cannot be read.
    package static let current: String? = SmallFile.text("/proc/sys/kernel/random/boot_id", limit: 64).flatMap { text in
        let identifier = text.prefix { $0 != "\n" }
        return identifier.isEmpty ? nil : String(identifier)
    }
}

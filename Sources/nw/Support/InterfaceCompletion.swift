import ArgumentParser

extension CompletionKind {
    /// The names of this host's interfaces.
    static var interfaces: CompletionKind { .shellCommand("ls /sys/class/net") }
}

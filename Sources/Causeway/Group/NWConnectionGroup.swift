/// A session with several peers, or with several streams to one.
///
/// Groups are declared and not implemented: programs cannot make one, and none is ever delivered.
///
/// Counterpart: macOS 11, iOS 14.
public final class NWConnectionGroup: Sendable {
    /// As given at creation.
    public let parameters: NWParameters

    package init(parameters: NWParameters) {
        self.parameters = parameters
    }
}

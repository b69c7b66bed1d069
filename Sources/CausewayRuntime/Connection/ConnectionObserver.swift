package import CausewayProtocols

/// Receives the reports of a connection for the program. The methods are called in order on the connection's queue, or on any thread if the
/// connection was started without a queue.
package protocol ConnectionObserver: AnyObject, Sendable {
    func connectionChanged(to state: ConnectionDriver.State)
    var wantsPathReports: Bool { get }
    func connectionPathChanged(_ reports: PathTracker.Reports)
    /// The connection waits, and this is the path that it would use now; `nil` for an endpoint on this host.
    func connectionWaits(on path: PathEvaluation?)
    /// This is the last call: no other method is called afterwards.
    func connectionReleased()
}

extension ConnectionObserver {
    package func connectionWaits(on path: PathEvaluation?) {}
}

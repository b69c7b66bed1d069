package import CausewayProtocols

/// Receives a connection's reports for the program. The methods are called in order on the connection's queue, or on
/// any thread if the connection was started without a queue.
package protocol ConnectionObserver: AnyObject, Sendable {
    func connectionChanged(to state: ConnectionDriver.State)
    var wantsPathReports: Bool { get }
    func connectionPathChanged(_ reports: PathTracker.Reports)
    /// Reports the path that the waiting connection would use now; `nil` for an endpoint on this host.
    func connectionWaits(on path: PathEvaluation?)
    /// The connection was released. This is the last call to the observer.
    func connectionReleased()
}

extension ConnectionObserver {
    package func connectionWaits(on path: PathEvaluation?) {}
}

package import CausewayProtocols

/// Receives the reports of a connection for the program. The methods are called in order on the connection's queue, or on any thread if the
/// connection was started without a queue.
package protocol ConnectionObserver: AnyObject, Sendable {
    func connectionChanged(to state: ConnectionDriver.State)
    var wantsPathReports: Bool { get }
    func connectionPathChanged(_ reports: PathTracker.Reports)
    /// This is the last call: no other method is called afterwards.
    func connectionReleased()
}

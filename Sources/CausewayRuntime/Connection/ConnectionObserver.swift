package import CausewayProtocols

/// The program's side of a connection. Its methods are called in order on the connection's queue, or on any thread if it was
/// started without one.
package protocol ConnectionObserver: AnyObject, Sendable {
    func connectionChanged(to state: ConnectionDriver.State)
    var wantsPathReports: Bool { get }
    func connectionPathChanged(_ reports: PathTracker.Reports)
    /// Nothing will be called any more.
    func connectionReleased()
}

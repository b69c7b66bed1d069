/// Tracks an advertiser's or browser's starts and stops, and stores its running service.
///
/// start() only queues the creation of the service. The program can call stop() and start() again before the service
/// exists. Therefore each start has a number. A service or event that belongs to an earlier start is dropped.
struct ServiceRuns<Service: Sendable>: Sendable {
    private var number = 0
    private var isRunning = false
    private var service: Service?

    /// Starts a run, and returns its number. Returns `nil` if another run is still active.
    mutating func begin() -> Int? {
        guard !isRunning else { return nil }
        number += 1
        isRunning = true
        return number
    }

    func isCurrent(_ run: Int) -> Bool { isRunning && number == run }

    /// Stores a run's service and returns `nil`. If the run has already ended, returns the service instead, and the
    /// caller must stop it.
    mutating func keep(_ service: Service, of run: Int) -> Service? {
        guard isCurrent(run) else { return service }
        self.service = service
        return nil
    }

    /// Ends the run. Returns its service, which the caller must stop.
    mutating func end() -> Service? {
        isRunning = false
        return service.take()
    }
}

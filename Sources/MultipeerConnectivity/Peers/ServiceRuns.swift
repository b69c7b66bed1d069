/// Tracks an advertiser's or browser's starts and stops, and the running service.
///
/// start() only queues the creation of the service. stop() and another start() can be called before the service exists.
/// Therefore each start has a number; services and events of an earlier start are dropped.
struct ServiceRuns<Service: Sendable>: Sendable {
    private var number = 0
    private var isRunning = false
    private var service: Service?

    /// Begins a run. Returns its number; `nil` if a run is already active.
    mutating func begin() -> Int? {
        guard !isRunning else { return nil }
        number += 1
        isRunning = true
        return number
    }

    func isCurrent(_ run: Int) -> Bool { isRunning && number == run }

    /// Stores a run's service and returns `nil`. If the run has already ended, does not store the service but returns
    /// it, and the caller must stop it.
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

//! How a request comes in: past the throttle, through the controller and over the link.

use super::Sim;
use crate::clock::Actor;
use crate::host::{Class, HostInterface, Inside, Passed};
use ftl::PolicyTypes;
use kernel::{Bytes, Dur, Time};

impl<K: PolicyTypes> Sim<K> {
    /// The throttle holds a write back until a time. Returns how long that is.
    #[cold]
    pub(super) fn hold_back(&mut self, mut request: Inside, until: Time) -> Dur {
        let until = until.min(Time::LAST + Dur::ns(1));
        let delay = until - self.clock.now;
        request.throttle = delay.as_ns();
        let id = self.requests.add(request, self.clock.now);
        let first = self.waits.hold(id, until);
        self.clock.plan(Actor::Gate, first);
        delay
    }

    /// The throttle lets its earliest write through.
    pub(super) fn gate_event(&mut self) {
        let (first, next) = self.waits.release_held();
        if let Some(id) = first {
            self.take_in(id);
        }
        self.clock.plan_or_clear(Actor::Gate, next);
    }

    /// A request comes in, through the controller and the link if the drive has them.
    #[inline]
    pub(super) fn take_in(&mut self, id: u32) {
        if self.host_interface.is_some() {
            self.take_command(id);
        } else {
            self.split(id);
        }
    }

    #[cold]
    fn take_command(&mut self, id: u32) {
        let (now, host_interface) =
            (self.clock.now, self.host_interface.as_mut().expect("a host interface"));
        if host_interface.has_controller() {
            let &Inside { class, bytes, .. } = self.requests.get(id);
            host_interface.command(id, class, Bytes::new(bytes.into()), now);
            self.plan_port();
        } else {
            self.carry_command(id);
        }
    }

    /// The link carries the command of a request without data.
    fn carry_command(&mut self, id: u32) {
        let bare = matches!(self.requests.get(id).class, Class::Trim | Class::Flush);
        match self
            .host_interface
            .as_mut()
            .filter(|host_interface| bare && host_interface.has_link())
        {
            Some(host_interface) => {
                host_interface.bare(id, self.clock.now);
                self.plan_port();
            }
            None => self.split(id),
        }
    }

    /// Plans the next event of the controller, the link or the buffer's port.
    pub(super) fn plan_port(&mut self) {
        let host_interface =
            self.host_interface.as_ref().and_then(|host_interface| host_interface.next());
        let port = self.buffer.as_ref().and_then(|buffer| buffer.port.next());
        let next = [host_interface, port].into_iter().flatten().min();
        self.clock.plan_or_clear(Actor::Port, next);
    }

    /// Something is through.
    #[cold]
    pub(super) fn port_event(&mut self) {
        let now = Some(self.clock.now);
        if self.host_interface.as_ref().is_some_and(|host_interface| host_interface.next() == now) {
            self.host_interface_event();
        } else {
            self.transfer_event();
        }
    }

    /// The controller or the link is through with something.
    fn host_interface_event(&mut self) {
        let passed = self.host_interface.as_mut().expect("it is on the agenda").pass();
        self.plan_port();
        match passed {
            Passed::Command(id) => self.carry_command(id),
            Passed::Bare(id) => self.split(id),
            Passed::In(op) => {
                self.enter_page(op);
                self.flush();
                self.start_jobs();
            }
            Passed::Out(op) => self.page_carried(op),
        }
    }

    pub(super) fn has_link(&self) -> bool {
        self.host_interface.as_deref().is_some_and(HostInterface::has_link)
    }

    /// The link carries the data of a host page operation to the drive, or to the host.
    #[cold]
    pub(super) fn carry(&mut self, op: u32) {
        let (from, to) = self.extent(op);
        let (now, bytes) = (self.clock.now, Bytes::new(to - from));
        let host_interface = self.host_interface.as_mut().expect("a link");
        if self.device.ops[op].programs() {
            host_interface.bring(op, bytes, now);
        } else {
            host_interface.send(op, bytes, now);
        }
        self.plan_port();
    }
}

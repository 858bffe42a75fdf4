use std::any::type_name;
use std::borrow::Cow;
use std::panic::Location;

/// The name of the type, without the modules that lead to it.
pub(super) fn short_type_name<T: ?Sized>() -> String {
    without_modules(type_name::<T>())
}

/// `what at FILE:LINE`, the place being that of the caller's caller.
#[track_caller]
pub(super) fn made_at(what: &str) -> Cow<'static, str> {
    let place = Location::caller();
    Cow::Owned(format!("{what} at {}:{}", place.file(), place.line()))
}

fn without_modules(path: &str) -> String {
    let is_part_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    path.split_inclusive(|c| !is_part_of_path(c))
        .map(|piece| piece.rsplit("::").next().unwrap_or(piece))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::client::ObjectKey;
    use crate::handler::{EnqueueHandler, EventHandler, FilteringHandler, HandlerFuncs};
    use crate::queue::WorkQueue;
    use crate::store::{Deleted, Delta};
    use crate::watch::testing::Widget;

    struct Audit<T>(T);

    impl<T: Send + Sync + 'static> EventHandler<Widget> for Audit<T> {
        fn on_add(&self, _: &Arc<Widget>, _: bool) {}
        fn on_update(&self, _: &Arc<Widget>, _: &Arc<Widget>) {}
        fn on_resync(&self, _: &Arc<Widget>) {}
        fn on_delete(&self, _: &Deleted<Widget>) {}
    }

    fn name(handler: &impl EventHandler<Widget>) -> String {
        handler.name().into_owned()
    }

    /// SI-36: funcs, pointers and wrappers. There is no handler without a name.
    #[test]
    fn every_handler_has_a_name_that_a_person_can_use() {
        assert_eq!(name(&Audit(7_u8)), "Audit<u8>");
        let nested = Audit(Some(String::new()));
        assert_eq!(name(&nested), "Audit<Option<String>>");
        let shared: Arc<dyn EventHandler<Widget>> = Arc::new(Audit(()));
        assert_eq!(name(&shared), "Audit<()>");

        let here = line!() + 1;
        let funcs = HandlerFuncs::<Widget>::new();
        assert_eq!(name(&funcs), format!("HandlerFuncs at {}:{here}", file!()));
        let filtered = FilteringHandler::new(|_: &Widget| true, funcs.named("audit log"));
        assert_eq!(name(&filtered), "audit log");

        let queue = Arc::new(WorkQueue::<ObjectKey>::new("widgets"));
        let here = line!() + 1;
        let enqueue = EnqueueHandler::new(queue, |delta: &Delta<Widget>| vec![delta.key()]);
        assert_eq!(
            name(&enqueue),
            format!("EnqueueHandler at {}:{here}", file!())
        );
        assert_eq!(name(&enqueue.named("widgets")), "widgets");
    }
}

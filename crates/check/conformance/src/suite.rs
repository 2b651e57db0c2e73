//! The tests of one kind of card, and of racks.

/// Makes a test of each case, for one kind of card; or, as `cards of` and `racks of`, of those for a single card or
/// for racks alone.
#[macro_export]
macro_rules! suite {
    (racks of $kinds:ty) => {
        $crate::suite! { $kinds: racks {
            an_image_for_all_arrives_though_one_frame_in_a_hundred_is_lost,
            a_card_that_comes_later_announces_itself_and_joins,
            a_card_that_is_pulled_out_is_missed_at_once,
            a_cable_pulled_in_the_middle_of_a_load_costs_one_card,
            a_card_that_restarts_is_another_card,
            a_role_that_goes_wrong_costs_one_launch,
            memory_that_fails_costs_one_card,
        } }
    };
    ($specimen:ty) => {
        $crate::suite!(cards of $specimen);
        $crate::suite!(racks of $specimen);
    };
    (cards of $specimen:ty) => {
        $crate::suite! { $specimen: discovery {
            announces_itself_at_link_up_and_says_it_again,
            a_card_that_slept_through_its_moments_speaks_once,
            announces_itself_periodically_and_not_in_step,
            answers_a_solicitation_within_the_window,
            answers_at_once_when_asked_to,
            a_crowd_of_solicitors_keeps_nobody_from_an_answer,
            announces_changes_of_claim_and_image,
            an_unplugged_card_says_goodbye_and_no_more,
        } session {
            a_claim_is_granted_once_and_again,
            a_rival_is_refused_and_told_who_and_how_long,
            fields_out_of_range_are_refused,
            a_silent_owner_loses_the_card,
            a_claim_that_has_ended_is_remembered,
            whatever_the_owner_sends_renews_the_lease,
            an_owner_behind_a_crowd_is_heard_before_its_lease_ends,
            a_restarted_host_takes_its_card_over,
            a_release_gives_the_card_back_and_is_confirmed_each_time,
            a_claim_may_ask_for_zeroed_memory,
            a_write_after_a_zeroing_claim_lasts,
            epochs_differ_from_what_the_host_remembers,
            a_ping_tells_the_present_epoch_to_anyone,
            counters_and_manifest_need_no_claim,
            counters_are_what_was_counted,
        } memory {
            writes_arrive_in_any_order_once,
            a_copy_of_a_write_is_not_looked_at,
            any_length_goes_to_any_address,
            acknowledgements_wait_for_company_or_time,
            a_gap_a_copy_or_a_wish_is_acknowledged_at_once,
            what_lies_beyond_the_window_is_dropped,
            the_window_moves_on,
            the_bounds_are_exact,
            a_frame_larger_than_the_card_takes_is_refused,
            reads_repeat_and_echo_their_number,
            a_read_sees_what_was_written_before_it,
            a_read_sees_what_waits_for_a_gap_to_close,
            another_epoch_is_dropped_and_told,
        } launches {
            a_launch_runs_once_however_often_it_comes,
            launches_are_taken_in_order_and_run_in_order,
            a_launch_follows_the_writes_before_it,
            a_launch_follows_a_write_that_waits_for_a_gap_to_close,
            each_fault_has_its_reason_and_uses_its_number_up,
            the_queue_and_the_results_kept_are_bounded,
            held_launches_start_together_with_their_go,
            failures_are_reported_and_the_next_launch_runs,
            a_launch_can_be_cancelled_wherever_it_is,
            a_query_tells_what_became_of_a_launch,
            a_new_image_ends_what_runs_and_what_waits,
            a_kernel_that_hangs_holds_nothing_up,
        } results {
            output_frames_are_no_longer_than_the_claim_says,
            an_output_arrives_whole,
            credit_is_never_passed,
            no_credit_at_all_asks_for_news,
            what_is_not_acknowledged_goes_out_again_ever_more_slowly,
            a_gap_is_mended_at_once_and_once,
            the_host_can_always_tell_what_is_missing,
            several_outputs_share_the_wire,
            acknowledgements_of_nothing_do_no_harm,
            results_end_with_the_claim,
            patience_is_configured,
        } rogues {
            each_is_told_and_the_next_launch_runs,
            several_in_a_row_end_in_order,
            the_next_image_replaces_each,
            each_ends_with_its_claim,
            memory_beyond_the_hosts_is_safe,
        } workers {
            an_array_is_copied,
            a_worker_goes_on_beside_kernels,
            a_worker_without_end_is_stopped_by_a_kernel,
            a_load_ends_a_worker,
            a_worker_that_goes_wrong_is_ended,
            a_worker_ends_with_its_claim,
        } loading {
            an_image_is_staged_committed_and_active,
            images_come_in_any_size_and_order,
            what_is_lost_is_reported_and_repaired,
            what_others_reported_is_left_out,
            at_the_second_poll_a_card_reports_whatever_others_say,
            reports_are_bounded,
            bad_images_are_named_and_harm_nothing,
            a_wrong_digest_keeps_the_old_role,
            begin_is_checked_and_harmless_when_refused,
            a_repeated_begin_keeps_what_is_staged_and_a_new_one_starts_over,
            an_abort_forgets_the_load_and_leaves_the_group,
            nothing_is_launched_or_loaded_while_configuration_lasts,
            a_claim_that_ends_leaves_no_card_half_configured,
            group_frames_are_taken_from_the_owner_alone,
            chunks_in_the_wrong_place_are_malformed,
            a_new_role_keeps_the_hosts_memory,
            a_load_ends_with_its_claim,
        } signatures {
            a_signed_image_loads_where_nobody_asks_for_signatures,
        } ports {
            a_card_announces_its_ports,
            control_is_taken_at_port_0_only,
            frames_elsewhere_renew_no_lease,
            a_load_takes_its_data_at_port_0,
            a_foreign_family_goes_to_no_service,
        } faults {
            a_write_that_fails_is_not_acknowledged,
            a_read_that_fails_is_not_answered,
            an_output_that_fails_is_not_sent,
            memory_that_cannot_be_zeroed_is_not_granted,
        } drops {
            each_fault_has_its_counter,
            kinds_that_cards_send_are_not_taken,
            a_payload_of_another_length_is_malformed,
            a_payload_of_the_right_length_is_not_malformed,
            launches_with_more_arguments_than_any_kernel_takes_are_malformed,
            every_frame_may_come_twice,
        } }
    };
    ($specimen:ty: $($group:ident { $($case:ident,)* })*) => {
        $(mod $group {
            use super::*;
            $(#[test]
            fn $case() {
                let (group, case) = (stringify!($group), stringify!($case));
                if let Some(why) = <$specimen as $crate::rack::Kinds>::lacks(group, case) {
                    return eprintln!("SKIPPED: {group}::{case}: {why}");
                }
                $crate::cases::$group::$case::<$specimen>();
            })*
        })*
    };
}
